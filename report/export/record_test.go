package export

import (
	"bytes"
	"encoding/csv"
	"errors"
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
)

func TestFieldsAreNoFormulas(t *testing.T) {
	for field, want := range map[string]string{
		"": "", "ok": "ok", "-1.5": "-1.5", "+3": "+3", "-": "'-", "=1+1": "'=1+1", "@SUM(A1)": "'@SUM(A1)",
		"+cmd|' /C calc'!A0": "'+cmd|' /C calc'!A0", "-2+3": "'-2+3", " =1+1": "' =1+1", "\t=1": "'\t=1",
		"-Inf": "-Inf",
	} {
		if got := withoutFormula(field); got != want {
			t.Errorf("withoutFormula(%q) = %q, want %q", field, got, want)
		}
	}
}

func TestSummaryHasTheIndependentVariables(t *testing.T) {
	step := func(variant, sequences, start string) results.Step {
		return results.Step{Result: &results.Result{
			Step: results.StepRef{ID: variant, Variant: variant, Point: "c8", Repeat: 1},
			Asked: results.Asked{
				Dataset: "random", NumPrompts: 64, MaxConcurrency: new(8), InputLen: new(128),
				OutputLen: new(32),
			},
			Servers: []results.Server{{
				Life: start, Launcher: "vllm", Model: "m", Version: "0.11.0",
				Argv: []string{"vllm", "serve", "m", "--max-num-seqs", sequences, "--dtype", "auto"},
			}},
		}}
	}
	run := &results.Run{Steps: []results.Step{step("a", "64", "01-a"), step("=b", "128", "02-b")}}

	var out bytes.Buffer
	if err := CSV(&out, run); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}

	second := map[string]string{}
	for i, name := range rows[0] {
		second[name] = rows[2][i]
	}
	for name, want := range map[string]string{
		"variant": "'=b", "model": "m", "engine": "vllm", "engine_version": "0.11.0", "server_start": "02-b",
		"dataset":     "random",
		"num_prompts": "64", "max_concurrency": "8", "request_rate_per_s": "", "input_len_tokens": "128",
		"output_len_tokens": "32", "arg.max-num-seqs": "128",
	} {
		if got, known := second[name]; got != want || !known {
			t.Errorf("column %s = %q, want %q", name, got, want)
		}
	}
	if strings.Contains(strings.Join(rows[0], ","), "arg.dtype") {
		t.Error("an argument that all servers share has a column")
	}
}

// A file is shown on terminals too.
func TestFieldsAreNoCommands(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	w := newWriter(&out)
	if err := errors.Join(w.write([]string{"a\x1b]0;title\x07b\u202e", "\x1b[0m=1+1"}), w.flush()); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "ab,'=1+1\n"; got != want {
		t.Errorf("record %q, want %q", got, want)
	}
}
