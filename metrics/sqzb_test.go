package metrics

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/internal/numtest"
	"github.com/benchrig/bench/results"
)

func pass(completed int, input, output int64, duration float64) results.Figures {
	return results.Figures{
		Completed: completed, TotalInputTokens: &input, TotalOutputTokens: &output,
		DurationS: duration,
	}
}

func TestSQZB(t *testing.T) {
	const million = 1 << 20
	s := SQZB(pass(1024, million, million, 500), pass(1024, million, 1024, 100), nil)
	numtest.Near(t, "generation latency", s.GenerationLatencyS, 400, 1e-12)
	numtest.Near(t, "summarization throughput", s.SummarizationThroughput, 10485.76, 1e-9)
	numtest.Near(t, "end-to-end throughput", s.E2EThroughput, 2097.152, 1e-9)
	numtest.Near(t, "generation throughput", s.GenerationThroughput, 2621.44, 1e-9)
	if s.Undefined != "" || s.FirstTokens != 1024 {
		t.Errorf("undefined %q, first tokens %d", s.Undefined, s.FirstTokens)
	}
}

func TestSQZBUndefined(t *testing.T) {
	tests := []struct {
		name      string
		full, one float64
		want      string
	}{
		{"second pass slower", 10, 11, "not positive"},
		{"equal", 10, 10, "not positive"},
		{"no second pass", 10, 0, "no duration"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := SQZB(pass(4, 100, 100, tt.full), pass(4, 100, 4, tt.one), nil)
			if s.GenerationLatencyS != nil || s.GenerationThroughput != nil || !strings.Contains(s.Undefined, tt.want) {
				t.Errorf("generation latency %v, throughput %v, undefined %q", numtest.Deref(s.GenerationLatencyS),
					numtest.Deref(s.GenerationThroughput), s.Undefined)
			}
			numtest.Near(t, "end-to-end throughput", s.E2EThroughput, 10, 1e-12)
		})
	}
}

func TestTPOTByTokens(t *testing.T) {
	r := results.Record{
		SentS: new(1.0), EndS: 3, ChunkS: []float64{1.5, 2, 2.5}, ChunkKinds: "ttt",
		OutputTokens: new(4),
	}
	s := SQZB(pass(1, 1, 4, 2), pass(1, 1, 1, 1),
		[]results.Record{r, {SentS: new(0.0), Failure: results.Failf(results.FailHTTP, "500")}})
	numtest.Near(t, "TPOT over all tokens", s.TPOTByTokensS, 0.25, 1e-12)
}

func TestCompareInputs(t *testing.T) {
	unknown := pass(4, 100, 4, 1)
	unknown.TotalInputTokens = nil
	tests := []struct {
		name string
		one  results.Figures
		want string
	}{
		{"same", pass(4, 100, 4, 1), ""},
		{"other prompts", pass(4, 101, 4, 1), "100 input tokens and the second 101"},
		{"failed requests", pass(3, 80, 3, 1), "4 requests succeeded in the first pass and 3"},
		{"not counted", unknown, "did not count"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := CompareInputs(pass(4, 100, 100, 2), tt.one)
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("CompareInputs = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestJPerInputToken(t *testing.T) {
	t.Parallel()
	watched := func(joules *float64) *results.Telemetry {
		return &results.Telemetry{Sum: &results.GPUFigures{Pass: results.GPUWindow{EnergyJ: joules}}}
	}
	for _, c := range []struct {
		tokens    *int64
		telemetry *results.Telemetry
		want      *float64
	}{
		{new(int64(2000)), watched(new(500.0)), new(0.25)},
		{new(int64(2000)), watched(nil), nil},
		{new(int64(2000)), &results.Telemetry{}, nil},
		{new(int64(2000)), nil, nil},
		{new(int64(0)), watched(new(500.0)), nil},
		{nil, watched(new(500.0)), nil},
	} {
		got := JPerInputToken(results.Figures{TotalInputTokens: c.tokens}, c.telemetry)
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("JPerInputToken(%+v) = %v, want %v", c, got, c.want)
		}
	}
}
