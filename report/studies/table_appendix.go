package studies

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/detail"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// AppendixParts show each step as the client of vLLM prints it: heading,
// settings, phases, result block.
func AppendixParts(run *results.Run) []table.Piece {
	var parts []table.Piece
	for _, s := range run.Steps {
		parts = append(parts, table.Piece{
			Title: appendixTitle(s.Result), Below: true,
			Verbatim: appendixText(s.Result),
		})
	}
	if parts == nil {
		return nil
	}
	return append([]table.Piece{{Title: "Appendix"}}, parts...)
}

func appendixTitle(r *results.Result) string {
	title := text.Clean(r.Step.Variant)
	if len(r.Servers) > 0 && r.Servers[0].Model != "" {
		title = text.Clean(r.Servers[0].Model) + " (" + title + ")"
	}
	title += ", " + text.Clean(r.Step.Point)
	if r.Step.Repeat > 1 {
		title += ", repeat " + strconv.Itoa(r.Step.Repeat)
	}
	return title
}

// appendixText is never cut: what failed says so in the place of its block.
func appendixText(r *results.Result) string {
	out := &bytes.Buffer{}
	out.WriteString("Settings: " + settings(r) + "\n")
	if r.Asked.API != "" {
		phases(out, r.Asked)
	}
	if r.Figures == nil {
		out.WriteString(versus.Verbatim(r) + "\n")
		return out.String()
	}
	if f := r.Figures; f.Completed < f.Asked {
		fmt.Fprintf(out, "Completed: %d of %d requests\n", f.Completed, f.Asked)
	}
	if r.Verdict != results.OK {
		out.WriteString("Verdict: " + versus.Verbatim(r) + "\n")
	}

	_ = detail.Block(out, r) // fails only without figures
	return out.String()
}

// phases are the lines that the client prints before its block.
func phases(out *bytes.Buffer, a results.Asked) {
	if a.Warmups > 0 {
		out.WriteString("Starting initial single prompt test run...\n")
		if a.Warmups > 1 {
			fmt.Fprintf(out, "Warming up with %d requests...\n", a.Warmups-1)
		}
		out.WriteString("Initial test run completed. Starting main benchmark run...\n")
	}

	rate := "inf"
	if a.RequestRate != nil {
		rate = python(*a.RequestRate)
	}

	if a.Ramp != nil {
		fmt.Fprintf(out, "Traffic ramp-up strategy: %s, from %s to %s requests/s\n", text.Clean(a.Ramp.Strategy),
			python(a.Ramp.StartRPS), python(a.Ramp.EndRPS))
	} else {
		out.WriteString("Traffic request rate: " + rate + "\n")
	}

	switch {
	case a.RequestRate == nil || a.Burstiness != nil && *a.Burstiness == 1:
		out.WriteString("Burstiness factor: 1.0 (Poisson process)\n")
	case a.Burstiness == nil:
		out.WriteString("Burstiness factor: inf (constant gaps)\n")
	default:
		fmt.Fprintf(out, "Burstiness factor: %s (Gamma distribution)\n", python(*a.Burstiness))
	}

	fmt.Fprintf(out, "Maximum request concurrency: %s\n", pythonInt(a.MaxConcurrency))
}

// settings are the arguments of the load, as name=value.
func settings(r *results.Result) string {
	a := r.Asked
	list := []string{"method=" + r.Method(), "bench=" + text.Clean(r.Bench), "seed=" + strconv.FormatUint(a.Seed, 10)}
	add := func(name, value string) { list = append(list, name+"="+value) }
	if len(r.Servers) > 0 {
		add("backend", text.Clean(r.Servers[0].Launcher))
		add("version", text.Clean(r.Servers[0].Version))
		add("base_url", text.Clean(r.Servers[0].BaseURL))
		add("model", text.Clean(r.Servers[0].Model))
	}

	if a.API == "" {
		return strings.Join(list, ", ")
	}

	add("endpoint", text.Clean(a.Endpoint))
	add("dataset_name", text.Clean(a.Dataset))
	add("dataset_path", text.Clean(a.DatasetPath))
	add("dataset_sha256", versus.Short(a.DatasetSHA256))
	add("num_prompts", strconv.Itoa(a.NumPrompts))
	add("input_len", pythonInt(a.InputLen))
	add("output_len", pythonInt(a.OutputLen))
	add("ignore_eos", strconv.FormatBool(a.IgnoreEOS))
	add("temperature", versus.TextOf(a.Temperature))
	add("max_concurrency", pythonInt(a.MaxConcurrency))
	add("request_rate", strings.ReplaceAll(versus.TextOf(a.RequestRate), "none", "inf"))
	add("warmups", strconv.Itoa(a.Warmups))
	add("tokenizer", text.Clean(a.Tokenizer))
	if r.Client != nil {
		add("transport", text.Clean(r.Client.Transport))
	}

	return strings.Join(list, ", ")
}

// python spells a number as Python does: "4.0".
func python(v float64) string {
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

func pythonInt(v *int) string {
	if v == nil {
		return "None"
	}
	return strconv.Itoa(*v)
}
