package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/importer/clients"
	"github.com/benchrig/bench/internal/importer/lenient"
	"github.com/benchrig/bench/internal/importer/stated"
	"github.com/benchrig/bench/internal/llamabench"
	"github.com/benchrig/bench/internal/programs"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// fromObjects reads JSON objects, each in its own format or in the one that is asked
// for. What is not a result becomes a line.
func fromObjects(name string, objects []lenient.Object, asked string) content {
	var c content
	var tests, measured []lenient.Object
	for _, o := range objects {
		kind := kindOf(o)
		if asked == clients.VLLM || asked == clients.SGLang {
			kind = asked
		}
		if kind != "" {
			c.format = kind
		}

		var found []*stated.Entry
		var err error
		switch kind {
		case "":
			err = fmt.Errorf("an object with %s", fmt.Sprint(o.Keys[:min(len(o.Keys), 20)]))
		case formatOwn:
			found, err = fromOwn(name, o)
		case formatLlamaJSON:
			tests = append(tests, o)
		case formatProgram:
			measured = append(measured, o)
		default:
			found, err = clients.Read(name, kind, o)
			all := len(found)
			if asked == "" {
				found = slices.DeleteFunc(found, func(e *stated.Entry) bool { return !e.HasFigures() })
			}
			if without := all - len(found); without > 0 {
				err = fmt.Errorf("%s of %s without a figure", text.Count(without, "result"), kind)
			}
		}
		if err != nil {
			c.reject(o.Line, err.Error())
		}
		c.entries = append(c.entries, found...)
	}

	c.add(fromTests(name, tests))
	c.add(fromPrograms(name, measured))
	return c
}

// kindOf returns the format of an object by its keys; "": not known.
func kindOf(o lenient.Object) string {
	switch {
	case o.Has("format_version", "step", "verdict"):
		return formatOwn
	case o.Has("avg_ts", "n_prompt"), o.Has("avg_ts", "n_gen"), o.Has("bench_raw"), holdsTests(o):
		return formatLlamaJSON
	case programs.Of(o.Has) != "":
		return formatProgram
	}
	return clients.Of(o)
}

// holdsTests reports whether an object holds tests of llama-bench, however deep.
func holdsTests(o lenient.Object) bool {
	return slices.ContainsFunc(o.Keys, func(key string) bool { return llamabench.Holds(o.Values[key]) })
}

// fromOwn reads a result.json of bench.
func fromOwn(name string, o lenient.Object) ([]*stated.Entry, error) {
	var r results.Result
	switch err := json.Unmarshal(o.JSON(), &r); {
	case err != nil:
		return nil, fmt.Errorf("a result of bench that cannot be read: %w", err)
	case r.Step.Variant == "" || r.Step.Point == "" || r.Verdict == "":
		return nil, errors.New("a result of bench without a step or a verdict")
	case r.Format > results.FormatVersion:
		return nil, fmt.Errorf("a result of format version %d, newer than %d: use a newer bench", r.Format,
			results.FormatVersion)
	}

	e := stated.New(name, formatOwn, o.Line)
	e.Own, e.Simulated, e.Variant, e.Point = &r, r.Simulated, r.Step.Variant, r.Step.Point
	e.Origin.StatedSettings = settingNames()
	e.State("run_id", r.Run, o.Line, "")
	e.State("scenario", r.Scenario, o.Line, "")
	return []*stated.Entry{e}, nil
}

// settingNames lists all settings of a load.
func settingNames() []string {
	return strings.Fields("api endpoint dataset num_prompts max_concurrency request_rate burstiness ramp send_for " +
		"input_len output_len ignore_eos temperature warmups compat")
}
