package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/differences"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// theirs makes the step of ours that vLLM's client would have saved, imported.
func theirs(reading results.Generation) *results.Run {
	run := runOf(step("tp8", 8, 1, 1))
	r := run.Steps[0].Result
	r.Servers[0].Argv, r.Servers[0].Env, r.Servers[0].Version = nil, nil, ""
	r.Client = nil
	r.Asked.DatasetSHA256 = ""
	r.Imported = &results.Origin{
		File: "a.json", Line: 1, Format: "vllm-json", Reading: reading,
		StatedSettings: []string{"max_concurrency"},
	}
	run.Manifest.Imported = &results.Imported{Files: []results.ImportedFile{{Name: "a.json", Format: "vllm-json"}}}
	run.Environment = nil
	return run
}

func TestCompareWithImported(t *testing.T) {
	ours := runOf(step("tp8", 8, 1, 1))
	r := ours.Steps[0].Result
	const theirThroughput = 123.5
	r.Compat = results.Compat{results.VLLM: {CompatFigures: results.CompatFigures{
		Completed: 10, DurationS: 1,
		OutputThroughput: new(theirThroughput),
	}}}
	for _, tt := range []struct {
		name    string
		reading results.Generation
		figure  float64
		note    string
	}{
		{
			"its client", results.VLLM, theirThroughput,
			"the figures of tp8 are those that this client (vllm) would have shown, not bench's",
		},
		{
			"another client", results.VLLM06, *r.Figures.OutputThroughput,
			"tp8 follows the definitions of vllm-0.6, which tp8 was not evaluated by",
		},
		{"nobody knows", "", *r.Figures.OutputThroughput, "does not say which definitions its figures follow"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := versus.Compare([]versus.Side{
				{Name: "theirs", Run: theirs(tt.reading)},
				{Name: "ours", Run: ours},
			}, versus.CompareOptions{Rounds: 10})
			if err != nil {
				t.Fatal(err)
			}
			s := c.Others[0].Pairs[0]
			if s.NotCompared != "" {
				t.Fatalf("not comparable: %s", s.NotCompared)
			}
			if !strings.Contains(strings.Join(s.Notes, "\n"), tt.note) {
				t.Errorf("notes %q lack %q", s.Notes, tt.note)
			}
			for _, d := range s.Differences {
				if d.Figure == "output_throughput" && *d.Candidate.Mean != tt.figure {
					t.Errorf("output throughput of ours %v, want %v", *d.Candidate.Mean, tt.figure)
				}
			}
			if got := *r.Figures.OutputThroughput; got == theirThroughput {
				t.Error("the step itself was changed")
			}
			var out bytes.Buffer
			if err := differences.WriteComparison(&out, c, table.ForTerminal, nil, table.Options{}); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"server's command", "engine version", versus.NotKnown} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("CONFIG DELTA lacks %q:\n%s", want, out.String())
				}
			}
		})
	}
}

// What two imports do not tell is listed, and is not a difference.
func TestUnknownIsNotEqual(t *testing.T) {
	c, err := versus.Compare([]versus.Side{
		{Name: "a", Run: theirs(results.VLLM)},
		{Name: "b", Run: theirs(results.VLLM)},
	}, versus.CompareOptions{Rounds: 10})
	if err != nil {
		t.Fatal(err)
	}
	v := c.Others[0]
	if v.Things != 0 {
		t.Errorf("%d things differ: %v", v.Things, v.Delta)
	}
	got := strings.Join(v.Unknown, ", ")
	for _, want := range []string{
		"machine", "server's command", "engine version", "load dataset", "load num-prompts",
		"whether the prompts are the same",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("unknown %q lacks %q", got, want)
		}
	}
	if strings.Contains(got, "max-concurrency") {
		t.Errorf("unknown %q names what both tell", got)
	}
	var out bytes.Buffer
	if err := differences.ComparisonJSON(&out, c, nil); err != nil || !strings.Contains(out.String(), `"not_known"`) ||
		!strings.Contains(out.String(), `"imported": true`) {
		t.Errorf("JSON: %v", err)
	}
}
