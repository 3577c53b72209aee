package report

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/report/detail"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// vllmArrays are the single requests of a run that vLLM's client saved.
type vllmArrays struct {
	Duration float64     `json:"duration"`
	Inputs   []int       `json:"input_lens"`
	Lengths  []int       `json:"output_lens"`
	TTFTS    []float64   `json:"ttfts"`
	ITLS     [][]float64 `json:"itls"`
	Starts   []float64   `json:"start_times"`
	Errors   []string    `json:"errors"`
}

func (v vllmArrays) records() []results.Record {
	var all []results.Record
	for i, ttft := range v.TTFTS {
		start := 0.0
		if v.Starts != nil {
			start = v.Starts[i]
		}
		r := results.Record{Index: i, SentS: &start, LocalInputTokens: &v.Inputs[i], TextTokens: &v.Lengths[i]}
		if v.Errors[i] != "" {
			r.Failure = results.Failf(results.FailTransport, "closed")
		} else {
			at := start + ttft
			r.ChunkS = []float64{at}
			for _, gap := range v.ITLS[i] {
				at += gap
				r.ChunkS = append(r.ChunkS, at)
			}
			r.ChunkKinds, r.DoneS = strings.Repeat("t", len(r.ChunkS)), &at
		}
		all = append(all, r)
	}
	return all
}

// The block of each generation is computed again from the requests that it
// saved, and must be what it printed.
func TestCompatBlockIsWhatTheClientPrinted(t *testing.T) {
	for name, g := range map[string]results.Generation{
		"newest": results.VLLM, "v010": results.VLLM010,
		"v06": results.VLLM06,
	} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile("../metrics/testdata/vllm-run-" + name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			var run vllmArrays
			var saved map[string]any
			if json.Unmarshal(data, &run) != nil || json.Unmarshal(data, &saved) != nil {
				t.Fatal("the saved run is not JSON")
			}
			p := metrics.Params{DurationS: run.Duration, Percentiles: []float64{50, 90, 99}, API: "completions"}
			figures := metrics.CompatReadings(run.records(), p)[g].CompatFigures
			if g == results.VLLM06 { // it did not save when [DONE] came
				figures.TPOT, figures.E2EL = savedDist(saved, "tpot"), savedDist(saved, "e2el")
			}
			r := &results.Result{
				Asked:  results.Asked{MaxConcurrency: new(4)},
				Compat: results.Compat{g: {CompatFigures: figures}},
			}
			want, err := os.ReadFile("testdata/vllm-block-" + name + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			got := print(t, func(out *bytes.Buffer) error { return detail.CompatBlock(out, r, g) })
			if g == results.VLLM010 { // the run was of before its two lines of July 2025
				got = []byte(strings.Replace(string(got), "Maximum request concurrency:             4         \n", "",
					1))
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("CompatBlock (-printed +ours):\n%s", diff)
			}
		})
	}
	if err := detail.CompatBlock(&bytes.Buffer{}, &results.Result{}, results.VLLM06); err == nil {
		t.Error("CompatBlock of a step without that reading gave no error")
	}
}

func savedDist(saved map[string]any, name string) results.Dist {
	ms := func(key string) *float64 { return new(saved[key+"_"+name+"_ms"].(float64) / 1000) }
	d := results.Dist{N: 1, Mean: ms("mean"), Median: ms("median")}
	for _, p := range []float64{50, 90, 99} {
		d.Percentiles = append(d.Percentiles, results.PercentileFigure{P: p, Value: ms(metrics.PercentileName(p))})
	}
	return d
}

// compatOf is the headline of a step as a reading, to be changed.
func compatOf(f *results.Figures) results.CompatReading {
	return results.CompatReading{CompatFigures: results.CompatFigures{
		Completed: f.Completed, Failed: f.Failed, DurationS: f.DurationS, TotalInputTokens: f.TotalInputTokens,
		TotalOutputTokens: f.TotalOutputTokens,
		RequestThroughput: f.RequestThroughput, OutputThroughput: f.OutputThroughput,
		TotalTokenThroughput: f.TotalTokenThroughput,
		TTFT:                 f.TTFT, TPOT: f.TPOT, ITL: f.ITL, E2EL: f.E2EL,
	}}
}

func TestReadingsGolden(t *testing.T) {
	run := runs()["matrix"]
	for i := range run.Steps {
		r := run.Steps[i].Result
		same := compatOf(r.Figures)
		r.Compat = results.Compat{results.VLLM: same}
		if i != 0 {
			continue
		}
		other := compatOf(r.Figures)
		other.TTFT = dist(2000, *r.Figures.TTFT.Mean/10)
		other.Differences = []results.Difference{{
			Code: results.DiffRoleFirst, Count: 2000,
			Effect: "a role-only chunk is taken as the first token: median -80.000 ms",
		}}
		old := compatOf(r.Figures)
		old.TotalOutputTokens, old.OutputThroughput = nil, nil
		old.Unknown = []string{"the lengths of some answers"}
		r.Compat = results.Compat{results.VLLM: other, results.VLLM06: old}
		r.Figures.Lengths = &results.OutputLengths{N: 2000, AskedMean: 64, ReceivedMean: 32, Share: 0.5, EarlyEOS: 0.25}
		r.Figures.Steady = &results.SteadyState{
			FromS: 0.5, ToS: 10, N: 1900, RequestThroughput: 4,
			OutputThroughput: new(128.0), TTFT: dist(1900, 0.02), TPOT: dist(1900, 0.01), E2EL: dist(1900, 0.3),
		}
		r.Figures.Series = &results.Series{PeakRequests: 6, PeakOutputTokens: new(180.0)}
		r.Figures.Prompts = []results.PromptBucket{{
			From: 64, To: 127, N: 12, TTFT: dist(12, 0.02),
			TPOT: dist(12, 0.01),
		}, {From: 128, To: 255, N: 1988}}
		r.Figures.TokensPerChunk = new(1.02)
		r.Figures.Answers = &results.Answers{
			N: 2000, Identical: 4, Repetitive: new(3), SHA256: new("0123456789abcdef"),
			Marks: "0123",
		}
		r.Servers[0].Counters = map[string]float64{
			"draft_tokens_total": 1000, "accepted_tokens_total": 700,
			"drafts_total": 200, "accepted_tokens_total_at_0": 180,
		}
	}
	id := run.Steps[0].Result.Step.ID
	golden(t, "step-readings.txt", print(t, func(out *bytes.Buffer) error { return detail.Step(out, run, id) }))
	text := string(print(t, func(out *bytes.Buffer) error { return Write(out, run, table.Options{}) }))
	want := "vllm bench serve would have shown other figures in 1 step (" + id +
		"): role-first-chunk. The step reports show both."
	markdown := string(print(t, func(out *bytes.Buffer) error { return Markdown(out, run) }))
	if !strings.Contains(text, want) || !strings.Contains(markdown, "<summary>Notes</summary>") {
		t.Errorf("the report does not say %q:\n%s", want, text)
	}
}

func TestDiffersByMoreThanRounding(t *testing.T) {
	f := figures(100, 4, 4)
	for _, tt := range []struct {
		name   string
		change func(*results.CompatReading)
		want   bool
	}{
		{"the same", func(*results.CompatReading) {}, false},
		{"less than rounding", func(c *results.CompatReading) { c.TTFT.Median = new(*c.TTFT.Median * 1.0005) }, false},
		{"a percent", func(c *results.CompatReading) { c.TTFT.Median = new(*c.TTFT.Median * 1.01) }, true},
		{"one request", func(c *results.CompatReading) { c.Completed-- }, true},
		{"unknown", func(c *results.CompatReading) { c.TotalOutputTokens = nil }, true},
	} {
		c := compatOf(f)
		tt.change(&c)
		r := &results.Result{Figures: f, Compat: results.Compat{results.VLLM: c}}
		if got := detail.ReadingDiffers(r, results.VLLM); got != tt.want {
			t.Errorf("%s: readingDiffers = %v, want %v", tt.name, got, tt.want)
		}
	}
	empty := &results.Result{
		Figures: &results.Figures{},
		Compat: results.Compat{results.VLLM: {CompatFigures: results.CompatFigures{
			RequestThroughput: new(0.0),
			TTFT:              results.Dist{Median: new(0.0)},
		}}},
	}
	if detail.ReadingDiffers(empty, results.VLLM) {
		t.Error("vLLM's 0 for nothing differs from our null, want not")
	}
}

func TestAnswerNotes(t *testing.T) {
	answered := func(variant string, concurrency, repeat int, prompts, marks string) results.Step {
		s := step(variant, concurrency, repeat, 4)
		s.Result.Asked.DatasetSHA256 = prompts
		s.Result.Figures.Answers = &results.Answers{N: len(marks) / 4, SHA256: new("hash of " + marks), Marks: marks}
		return s
	}
	sampled := answered("sampled", 1, 1, "p", "")
	sampled.Result.Figures.Answers.SHA256 = nil
	got := notes(runOf(
		sampled, answered("a", 1, 1, "p", "11112222"), answered("b", 1, 1, "p", "11112222"),
		answered("c", 1, 1, "p", "11113333"),
		answered("c", 1, 2, "q", "44445555"), answered("d", 4, 1, "p", "99998888"),
		answered("a", 4, 1, "p", "11112222"), answered("b", 4, 1, "p", "11113333"),
	))
	half := "1 of 2 answers are equal (50.0 %), temperature 0."
	want := []string{
		"Answers of c differ from those of a (point c1): " + half,
		"Answers of a differ from those of d (point c4): 0 of 2 answers are equal (0.0 %), temperature 0.",
		"Answers of b differ from those of d (point c4): 0 of 2 answers are equal (0.0 %), temperature 0.",
		"Answers of b under load c4 differ from its own under load c1: " + half,
	}
	if !slices.Equal(got, want) {
		t.Errorf("notes = %q, want %q", got, want)
	}
}
