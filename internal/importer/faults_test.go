package importer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A report whose benchmarks are not those of GuideLLM is named in the error.
func TestReportOfUnknownForm(t *testing.T) {
	_, err := Import([]Source{{"a.json", []byte(`{"benchmarks": 3, "args": {}}`)}}, Options{})
	if err == nil || !strings.Contains(err.Error(), "a file of GuideLLM, in a form that is not read") {
		t.Errorf("error %v, want one that names GuideLLM", err)
	}
}

// A step of a program that failed without a figure belongs to the run of its program.
func TestFailedStepOfProgram(t *testing.T) {
	got, err := Import([]Source{{"result.json", []byte(`{"format_version": 1, "measured_by": "vllm-throughput",
		"step": {"id": "a", "variant": "v", "point": "p"}, "verdict": "failed"}`)}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if runs := got.Runs(Naming{Name: "n"}, Options{}); len(runs) != 1 || runs[0].Manifest.Method != "vllm-throughput" {
		t.Errorf("runs %+v, want one of method vllm-throughput", runs)
	}
}

// The drafts that a result itself states are kept where it stands in a log.
func TestDraftsOfResultInLog(t *testing.T) {
	got, err := Import([]Source{{"log", []byte("starting\n" + mtp + "\n")}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := got.Steps[0].Result.Servers[0].Speculation; d == nil || *d.DraftTokens != 1248 {
		t.Errorf("drafts %+v, want 1248 tokens", d)
	}
}

// An import of a file gives the same result each time.
func TestImportsAreTheSame(t *testing.T) {
	for _, file := range []string{guideLLM, mtp, aiperfJSON, inferenceX, optimizer} {
		var first *Imported
		for range 20 {
			got, err := Import([]Source{{"a.json", []byte(file)}}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = got
			}
			if diff := cmp.Diff(first, got); diff != "" {
				t.Fatalf("the same file again (-first +now):\n%s", diff)
			}
		}
	}
}

// Rates are compared with counts and duration in one unit.
func TestRatesWithDurationInMilliseconds(t *testing.T) {
	const table = "| Concurrency | Duration (ms) | Successful requests | Request throughput (req/s) |\n|---|---|---|---|\n" +
		"| 4 | 2000 | 10 | 5.0 |\n"
	got, err := Import([]Source{{"a.md", []byte(table)}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range got.Steps[0].Result.Warnings[1:] {
		t.Errorf("warning %s: %s", w.Code, w.Message)
	}
}

// An object without a single figure is not imported: it would be a step with verdict ok.
func TestResultsWithoutFigures(t *testing.T) {
	for file, want := range map[string]string{
		`{"benchmarks": [null, {}], "args": {}}`:   "2 results of guidellm without a figure",
		`{"tput_per_gpu": "x", "model": "m"}`:      "1 result of inferencex without a figure",
		"Metric,avg,min,max\nRequest Latency,,,\n": "a CSV file of AIPerf or genai-perf without a figure",
	} {
		got, err := Import([]Source{{"a", []byte(file)}}, Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: imported %+v, error %v, want one with %q", file, got, err, want)
		}
	}
}
