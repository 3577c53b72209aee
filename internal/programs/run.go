package programs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/llamabench"
	"github.com/benchrig/bench/internal/nanjson"
	"github.com/benchrig/bench/results"
)

// Run is what a program has measured in one run, or so far.
type Run struct {
	Tests    []Test
	Rows     []results.LlamaBenchRow // of llama-bench
	Measures []results.Measure       // of the others
	Context  int64                   // tokens that the context of llama-batched-bench holds; 0: it did not say
	Notes    []string                // what was left out, or contradicts itself
}

// Test is one test of a run, or all of a program that does not tell tests apart.
type Test struct {
	Summary string // in a line
	Model   string // without folder and ending; "": the program does not say
	Version string // of the program; "": it does not say
}

// ReadRun reads the log of a program, and the file that it has written, nil if
// there is none. It takes whatever stands around the figures. No figure is no error.
func ReadRun(program Program, log, file []byte) Run {
	switch program {
	case results.MethodLlamaBench:
		return rowsOf(log)
	case Batched:
		return objectsOf(program, log)
	default:
		run := objectsOf(program, file)
		if program == Throughput && run.Measures != nil {
			run.addOutputRate(log)
		}
		return run
	}
}

// rowsOf are those of llama-bench.
func rowsOf(log []byte) Run {
	out, err := llamabench.Parse(log)
	if err != nil {
		return Run{}
	}
	run := Run{Rows: out.Rows, Notes: out.Notes}
	for _, row := range out.Rows {
		model := row.ModelName()
		run.Tests = append(run.Tests, Test{
			Summary: fmt.Sprintf("%s of %s: %.2f tokens/s", row.Test, model, row.TokensPerS),
			Model:   model, Version: row.Build,
		})
	}
	return run
}

// objectsOf reads the JSON objects of a program, the first on a line each.
func objectsOf(program Program, text []byte) Run {
	var run Run
	text = nanjson.ToNull(text)
	for len(text) > 0 {
		line, _, _ := bytes.Cut(text, []byte("\n"))
		next := min(len(line)+1, len(text))
		if begin := bytes.IndexByte(line, '{'); begin >= 0 {
			decoder := json.NewDecoder(bytes.NewReader(text[begin:]))
			var object json.RawMessage
			if decoder.Decode(&object) == nil && Of(hasKeys(object)) == program {
				run.add(Read(program, object))
				next = begin + int(decoder.InputOffset())
			}
		}
		text = text[next:]
	}
	return run
}

// hasKeys reports whether an object has members of all these names.
func hasKeys(object json.RawMessage) func(keys ...string) bool {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(object, &members) // of another value: none
	return func(keys ...string) bool {
		for _, key := range keys {
			if _, ok := members[key]; !ok {
				return false
			}
		}
		return true
	}
}

// add adds what an object holds.
func (run *Run) add(out Output, err error) {
	run.Notes = append(run.Notes, out.Notes...)
	if err != nil {
		run.Notes = append(run.Notes, err.Error())
		return
	}
	run.Measures = append(run.Measures, out.Measures...)
	run.Tests = append(run.Tests, Test{Summary: summary(out.Measures)})
	if context, err := strconv.ParseInt(out.Settings["n_kv_max"], 10, 64); err == nil && context > 0 {
		run.Context = context
	}
}

// summary is the first few figures, rates where there are some.
func summary(measures []results.Measure) string {
	const few = 2
	var rates, all []string
	for _, m := range measures {
		line := fmt.Sprintf("%s %.4g %s", m.Title, *m.Value, m.Unit)
		all = append(all, line)
		if m.Higher {
			rates = append(rates, line)
		}
	}
	if rates != nil {
		all = rates
	}
	return strings.Join(all[:min(few, len(all))], ", ")
}

// addOutputRate adds what vllm bench throughput prints and does not write:
// "Throughput: 5.10 requests/s, 3264.10 total tokens/s, 652.82 output tokens/s".
func (run *Run) addOutputRate(log []byte) {
	const end = " output tokens/s"
	scanner := bufio.NewScanner(bytes.NewReader(log))
	scanner.Buffer(nil, 1<<20)

	for scanner.Scan() {
		line := strings.TrimSpace(scanner.Text())
		if !strings.HasPrefix(line, "Throughput: ") || !strings.HasSuffix(line, end) {
			continue
		}

		words := strings.Fields(strings.TrimSuffix(line, end))
		var rate number
		if v, err := strconv.ParseFloat(words[len(words)-1], 64); err == nil && v >= 0 && v <= mostTokens {
			rate.value = &v
		}

		out := Output{}
		out.add(results.Measure{
			Name: "output_tokens_per_s", Title: "output", Unit: "tok/s", Higher: true, N: run.Measures[0].N,
		}, rate)
		run.Measures = append(run.Measures, out.Measures...)
		run.Notes = append(run.Notes, out.Notes...)
		return
	}
}
