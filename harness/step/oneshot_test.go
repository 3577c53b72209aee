package step

import (
	"math"
	"strings"
	"testing"

	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// A single point has warm-ups of its own, as long in the prompt and short in
// the answer, and carries what the server's kind and the caller want.
func TestSingle(t *testing.T) {
	point := scenarios.Load{
		Label: "n4", Endpoint: "/v1/completions", API: "completions", NumPrompts: 4, InputLen: 20,
		OutputLen: 300, Warmups: 2,
		RequestRate: math.Inf(1), Burstiness: 1, Dataset: scenarios.Dataset{Kind: "random"},
		Settings: spec.Settings{Body: map[string]any{"own": 1}},
	}
	s := OneShot{
		Server: lengthTeller{info: results.Server{Model: "m", BaseURL: "http://host"}}, Load: point, Seed: 9,
		WarmupOutput: 16,
		Headers:      map[string]string{"Authorization": "Bearer k"},
		Body:         map[string]any{"cache_prompt": false, "own": 0},
	}
	job, result, err := s.Job(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(job.Prompts) != 4 || len(job.Warmups) != 2 {
		t.Fatalf("%d prompts and %d warm-ups, want 4 and 2", len(job.Prompts), len(job.Warmups))
	}
	for _, w := range job.Warmups {
		if w.OutputTokens != 16 || len(strings.Fields(w.Text)) != 20 {
			t.Errorf("warm-up of %d words asks for %d tokens, want 20 and 16", len(strings.Fields(w.Text)),
				w.OutputTokens)
		}
		for _, p := range job.Prompts {
			if p.Text == w.Text || p.OutputTokens != 300 {
				t.Errorf("measured prompt %q of %d tokens, want another than the warm-up's, of 300", p.Text,
					p.OutputTokens)
			}
		}
	}
	o := job.Options
	if o.Body["cache_prompt"] != false || o.Body["own"] != 1 || o.Target.Headers["Authorization"] != "Bearer k" ||
		o.Target.Model != "m" {
		t.Errorf("target = %+v, want the kind's field beneath the load's, the header, the model", o.Target)
	}
	if result.Asked.Seed != 9 || *result.Asked.InputLen != 20 || result.Asked.DatasetSHA256 == "" ||
		!strings.Contains(result.Asked.Body, `"max_tokens":300`) {
		t.Errorf("asked = %+v, want what was asked", result.Asked)
	}
	s.Load.OutputLen = 0
	if _, _, err := s.Job(t.Context()); results.AsFailure(err, results.FailInternal).Class != results.FailDataset {
		t.Errorf("Job without an output length = %v, want a failure of the dataset", err)
	}
}
