package importer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
)

// The parallelism study states one client command and six blocks below it: all
// of them are of 1,024 prompts at 128 requests at once, but for the one that
// says 32 and is multiplied by 4.
func TestOneClientCommandHoldsForAllBlocks(t *testing.T) {
	got := imported(t, Options{}, "documents/mi300x.md")
	for _, s := range got.Steps {
		want := "c128"
		if s.Result.Step.Variant == "tp2 x 4" {
			want = "c32"
		}
		if s.Result.Step.Point != want || s.Result.Asked.NumPrompts != 1024 {
			t.Errorf("%s: point %s with %d prompts, want %s with 1024", s.Result.Step.Variant, s.Result.Step.Point,
				s.Result.Asked.NumPrompts, want)
		}
	}
}

// The study multiplies the block of one replica by 4 in the lines below it: that
// row stands for four, is marked, and keeps what was measured.
func TestMultipliedBlockIsExtrapolated(t *testing.T) {
	got := imported(t, Options{}, "documents/mi300x.md")
	for _, s := range got.Steps {
		e := s.Result.Extrapolated
		if s.Result.Step.Variant != "tp2 x 4" {
			if e != nil {
				t.Errorf("%s is extrapolated", s.Result.Step.Variant)
			}
			continue
		}
		if e == nil || e.Factor != 4 || e.Share != 32 {
			t.Fatalf("extrapolation %+v, want the factor 4 of replicas at 32 each", e)
		}
		text := fmt.Sprintf("%.3f %.2f %.2f %.2f; %.2f", e.DurationS, *e.RequestThroughput, *e.OutputThroughput,
			*e.TotalTokenThroughput, *s.Result.Figures.OutputThroughput)
		if want := "71.515 14.32 2686.16 5775.04; 671.54"; text != want {
			t.Errorf("figures %s, want %s", text, want)
		}
		if !slices.ContainsFunc(s.Result.Warnings,
			func(w results.Warning) bool { return w.Code == results.WarnExtrapolated }) {
			t.Errorf("warnings %v lack %s", s.Result.Warnings, results.WarnExtrapolated)
		}
	}
}

// A factor without what comes out, or with other numbers, multiplies nothing.
func TestFactorAloneMultipliesNothing(t *testing.T) {
	const block = `## tp2 x 4
============ Serving Benchmark Result ============
Successful requests:                     10
Benchmark duration (s):                  10.00
Request throughput (req/s):              1.00
Output token throughput (tok/s):         50.00
Total Token throughput (tok/s):          80.00
==================================================
`
	for _, tt := range []struct {
		name, below string
		factor      int
	}{
		{"nothing", "", 0},
		{"a word", "multiply by hand", 0},
		{"other numbers", "4.1\n199\n321\n", 0},
		{"one of them", "200.00\n", 0},
		{"two of them", "200.00\n320.00\n", 4},
		{"the duration and a rate", "10.00/4 = 2.50\n4.00\n", 4},
		{"of another factor", "150.00\n240.00\n", 0},
	} {
		got, err := Import([]Source{{"x.md", []byte(block + "\n" + tt.below)}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		factor := 0
		if e := got.Steps[0].Result.Extrapolated; e != nil {
			factor = e.Factor
		}
		if factor != tt.factor || *got.Steps[0].Result.Figures.OutputThroughput != 50 {
			t.Errorf("%s: factor %d, want %d; measured %g tok/s, want 50", tt.name, factor, tt.factor,
				*got.Steps[0].Result.Figures.OutputThroughput)
		}
	}
}

// Our own table has the rates of all replicas: what one of them did is found
// again by the factor that is beside them.
func TestExtrapolatedRowOfOurTable(t *testing.T) {
	csv := "scenario,run_id,variant,point,verdict,extrapolated_factor,extrapolated_share,duration_s,completed," +
		"output_throughput,max_concurrency\n" +
		"s,r,tp2,c8,ok,4,2,2.5,10,200,2\n" + "s,r,tp8,c8,ok,,,10,10,50,8\n"
	got, err := Import([]Source{{"summary.csv", []byte(csv)}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	one, whole := got.Steps[0].Result, got.Steps[1].Result
	if e := one.Extrapolated; e == nil || e.Factor != 4 || *e.OutputThroughput != 200 || e.DurationS != 2.5 {
		t.Errorf("extrapolation %+v, want the factor 4 and 200 tok/s", e)
	}
	if one.Figures.DurationS != 10 || *one.Figures.OutputThroughput != 50 {
		t.Errorf("measured %g s and %g tok/s, want 10 and 50", one.Figures.DurationS, *one.Figures.OutputThroughput)
	}
	if whole.Extrapolated != nil {
		t.Errorf("%s is extrapolated", whole.Step.Variant)
	}
}

// Engines before V1 count emitted tokens: the mean length is theirs over the
// drafts, and the line about stage times is kept beside it.
func TestDraftsOfAnImportedDocument(t *testing.T) {
	got := imported(t, Options{}, "documents/mi300x.md")
	var lengths []string
	stages := 0
	for _, s := range got.Steps {
		d := s.Result.Servers[0].Speculation
		if d == nil {
			continue
		}
		lengths = append(lengths, fmt.Sprintf("%.2f", *d.Length))
		for _, line := range d.LogLines {
			if strings.Contains(line, "scoring_time_ms=") {
				stages++
			}
		}
	}
	if want := []string{"3.84", "4.88", "4.45"}; !slices.Equal(lengths, want) || stages != 2 {
		t.Errorf("lengths %v with %d lines of stage times, want %v with 2", lengths, stages, want)
	}

	tables := got.Runs(Naming{Name: "x"}, Options{})[0].Manifest.Tables
	if !slices.Contains(tables, "speculation") {
		t.Errorf("tables %v lack speculation", tables)
	}
}

// The table of the APU study says which engine answered; the blocks below that it
// sums up, and those under the same name, are of that engine.
func TestEnginesOfAnImportedDocument(t *testing.T) {
	got := imported(t, Options{}, "documents/strix-halo.md")
	count := map[string]int{}
	for _, s := range got.Steps {
		if len(s.Result.LlamaBench) == 0 {
			count[s.Result.Servers[0].Launcher]++
		}
	}
	if count["vllm"] != 5 || count["llamacpp"] != 6 || len(count) != 2 {
		t.Errorf("engines %v, want 5 results of vllm and 6 of llamacpp", count)
	}

	run := got.Runs(Naming{Name: "x"}, Options{})[0]
	if tables := run.Manifest.Tables; !slices.Contains(tables, "backends") || !slices.Contains(tables, "sizes") {
		t.Errorf("tables %v lack backends or sizes", tables)
	}
}

// Two engines under one name leave the third result without one.
func TestEnginesAreNotGuessed(t *testing.T) {
	md := "| Backend | Model | Req/s | Output Tok/s |\n|---|---|---|---|\n" +
		"| vLLM | m | 1.00 | 10.00 |\n| llama.cpp | m | 2.00 | 20.00 |\n| something | m | 3.00 | 30.00 |\n"
	got, err := Import([]Source{{"x.md", []byte(md)}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, s := range got.Steps {
		kinds = append(kinds, s.Result.Servers[0].Launcher)
	}
	if want := []string{"vllm", "llamacpp", ""}; !slices.Equal(kinds, want) {
		t.Errorf("engines %q, want %q", kinds, want)
	}
}

// What is not a number of replicas multiplies nothing, and is reported.
func TestFactorThatIsUnusable(t *testing.T) {
	for _, factor := range []string{"-3", "0", "x", "1.5", "9999999999999999999999", "10001"} {
		csv := "scenario,run_id,variant,point,verdict,extrapolated_factor,duration_s,output_throughput\n" +
			"s,r,v,c1,ok," + factor + ",2,10\n"
		got, err := Import([]Source{{"summary.csv", []byte(csv)}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := got.Steps[0].Result
		reported := slices.ContainsFunc(r.Warnings,
			func(w results.Warning) bool { return w.Code == results.WarnImportedUnusable })
		if r.Extrapolated != nil || *r.Figures.OutputThroughput != 10 || !reported {
			t.Errorf("%s: extrapolation %+v, %g tok/s, reported: %v", factor, r.Extrapolated,
				*r.Figures.OutputThroughput, reported)
		}
	}
}

// SGLang's total_throughput is that of input and output tokens.
func TestTotalThroughputOfSGLang(t *testing.T) {
	line := `{"backend": "sglang", "duration": 10, "completed": 10, "total_input_tokens": 1000, ` +
		`"total_output_tokens": 500, "request_throughput": 1, "input_throughput": 100, "output_throughput": 50, ` +
		`"total_throughput": 150, "mean_ttft_ms": 20, "mean_e2e_latency_ms": 100, "concurrency": 1}`
	got, err := Import([]Source{{"s.jsonl", []byte(line)}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v := got.Steps[0].Result.Figures.TotalTokenThroughput; v == nil || *v != 150 {
		t.Errorf("total_throughput = %v, want 150", v)
	}
}
