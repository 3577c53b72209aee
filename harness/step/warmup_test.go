package step

import (
	stdcmp "cmp"
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
)

// coldDriver fails the first requests that it gets.
type coldDriver struct {
	failures int
	failure  *results.Failure // nil: 500
	sent     []int            // prompts of each call
}

func (d *coldDriver) Run(_ context.Context, _ load.Options, prompts []load.Prompt,
	emit load.Emit,
) (results.ClientReport, error) {
	d.sent = append(d.sent, len(prompts))
	for i := range prompts {
		one, sent := 1, 0.0
		rec := results.Record{
			Index: i, SentS: &sent, EndS: 1, ChunkS: []float64{0.5}, ChunkKinds: "t",
			OutputTokens: &one,
		}
		if d.failures > 0 {
			d.failures--
			rec.Failure = stdcmp.Or(d.failure, results.Failf(results.FailHTTP, "500: compiling"))
		}
		if err := emit(rec); err != nil {
			return results.ClientReport{}, err
		}
	}
	return results.ClientReport{DurationS: 1}, nil
}

// A warm-up that the server refuses for its length says nothing of the prompts
// that are shorter: the step continues.
func TestWarmUpThatIsTooLong(t *testing.T) {
	d := &coldDriver{failures: 2, failure: &results.Failure{
		Class: results.FailHTTP, HTTPStatus: 400,
		Message: "request (353 tokens) exceeds the available context size (256 tokens), try increasing it",
	}}
	result := &results.Result{}
	Drive(t.Context(), Job{
		Driver: d, Warmups: make([]load.Prompt, 2), Prompts: make([]load.Prompt, 3), MinSuccess: 1,
	}, result)
	if diff := cmp.Diff([]int{2, 3}, d.sent); diff != "" || result.Figures == nil || result.Figures.Completed != 3 {
		t.Errorf("prompts sent (-want +got):\n%s; %v, figures %+v", diff, result.Failure, result.Figures)
	}
}

func TestWarmUpIsRepeatedOnce(t *testing.T) {
	for _, c := range []struct {
		name     string
		failures int
		sent     []int
		failed   string
	}{
		{"all well", 0, []int{2, 3}, ""},
		{"one failed", 1, []int{2, 3}, ""},
		{"all failed at first", 2, []int{2, 2, 3}, ""},
		{"one fails again", 3, []int{2, 2, 3}, ""},
		{
			"all fail again", 4,
			[]int{2, 2},
			"warm-up: all 2 requests, sent twice, failed, the last with http-status: 500: compiling",
		},
	} {
		d := &coldDriver{failures: c.failures}
		result := &results.Result{}
		Drive(t.Context(), Job{
			Driver: d, Prompts: make([]load.Prompt, 3), Warmups: make([]load.Prompt, 2), Percentiles: []float64{50},
			MinSuccess: 1,
		}, result)
		if diff := cmp.Diff(c.sent, d.sent); diff != "" {
			t.Errorf("%s: requests of each call (-want +got):\n%s", c.name, diff)
		}
		if f := result.Failure; (f == nil) != (c.failed == "") || f != nil && !strings.Contains(f.Message, c.failed) {
			t.Errorf("%s: the step fails with %v, want %q", c.name, f, c.failed)
		}
	}
}

func TestFitWarmups(t *testing.T) {
	short, long := load.Prompt{Text: "s", InputTokens: 100, OutputTokens: 50}, load.Prompt{
		Text: "l", InputTokens: 300,
		OutputTokens: 10,
	}
	cut := short
	cut.OutputTokens = 20
	unknown := load.Prompt{Text: "u", OutputTokens: 500}
	for _, c := range []struct {
		name     string
		context  int
		in, want []load.Prompt
	}{
		{"a context that is not known", 0, []load.Prompt{short, long}, []load.Prompt{short, long}},
		{"all fit", 400, []load.Prompt{short, long}, []load.Prompt{short, long}},
		{"one does not", 256, []load.Prompt{long, short}, []load.Prompt{short, short}},
		{"an answer does not", 120, []load.Prompt{short}, []load.Prompt{cut}},
		{"none fits", 50, []load.Prompt{short, long}, []load.Prompt{short, long}},
		{"a length that is not known", 50, []load.Prompt{unknown}, []load.Prompt{unknown}},
	} {
		if diff := cmp.Diff(c.want, fitWarmups(c.in, c.context)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
