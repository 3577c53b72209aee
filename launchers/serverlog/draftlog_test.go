package serverlog

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/launchers/scrape"
)

const (
	v0Line = "INFO 12-17 09:01:13 metrics.py:489] Speculative metrics: Draft acceptance rate: 0.797, System " +
		"efficiency: 0.640, " +
		"Number of speculative tokens: 5, Number of accepted tokens: 197711, Number of draft tokens: 248165, Number " +
		"of emitted tokens: 190541."
	v0Older = "Speculative metrics: Draft acceptance rate: 0.786, System efficiency: 0.443, " +
		"Number of speculative tokens: 10, Number of accepted tokens: 311498, Number of draft tokens tokens: " +
		"396390, Number of emitted tokens tokens: 193355."
	v0Stage = "INFO 12-17 09:01:13 spec_decode_worker.py:1071] SpecDecodeWorker stage times: " +
		"average_time_per_proposal_tok_ms=4.39 scoring_time_ms=50.04 verification_time_ms=1.21"
	v1Early = "INFO 05-02 10:00:00 [metrics.py:82] SpecDecoding metrics: Draft acceptance rate: 60.0%, Mean " +
		"acceptance length: 2.80, " +
		"Accepted: 180 tokens, Drafted: 300 tokens, Per-position acceptance rate: 0.800, 0.600, 0.400"
	v1Later = "(APIServer pid=7) INFO 10-02 10:00:10 [metrics.py:96] SpecDecoding metrics: Mean acceptance length: " +
		"2.20, Accepted throughput: 12.00 tokens/s, " +
		"Drafted throughput: 30.00 tokens/s, Accepted: 120 tokens, Drafted: 300 tokens, Per-position acceptance " +
		"rate: 0.700, 0.300, 0.200, Avg Draft acceptance rate: 40.0%"
	v1Idle = "SpecDecoding metrics: Mean acceptance length: nan, Accepted throughput: 0.00 tokens/s, Drafted " +
		"throughput: 0.00 tokens/s, " +
		"Accepted: 0 tokens, Drafted: 0 tokens, Per-position acceptance rate: nan, nan, nan, Avg Draft acceptance " +
		"rate: nan%"
	v1Short = "SpecDecoding metrics: Mean acceptance length: 1.50, Accepted throughput: 1.00 tokens/s, Drafted " +
		"throughput: 1.00 tokens/s, " +
		// 40 drafts, not 20
		"Accepted: 20 tokens, Drafted: 60 tokens, Per-position acceptance rate: 0.300, 0.150, 0.050, Avg Draft " +
		"acceptance rate: 33.3%"
	v1Older = "SpecDecoding metrics: Draft acceptance rate: nan%, Mean acceptance length: nan, Accepted: 0 " +
		"tokens, Drafted: 0 tokens, Per-position acceptance rate: "
	llamaLine = "0.00.386.015 I slot print_timing: id  0 | task 0 | draft acceptance = 0.38843 (   47 accepted /   " +
		"121 generated), mean len =  3.94"
	llamaOld  = "slot print_timing: id  0 | task 5 | draft acceptance rate = 0.57576 (  171 accepted /   297 generated)"
	llamaNone = "slot print_timing: id  0 | task 9 | draft acceptance = 0.00000 (    0 accepted /    12 generated), " +
		"mean len =  1.00"
)

func TestDraftLog(t *testing.T) {
	t.Parallel()
	counts := func(drafts, draft, accepted float64, at ...float64) map[string]float64 {
		m := map[string]float64{"log_draft_tokens_total": draft, "log_accepted_tokens_total": accepted}
		if drafts >= 0 {
			m["log_drafts_total"] = drafts
		}
		for i, n := range at {
			m["log_"+scrape.AcceptedAt(i)] = n
		}
		return m
	}
	emitted := func(m map[string]float64, n float64) map[string]float64 { m["log_emitted_tokens_total"] = n; return m }
	for _, c := range []struct {
		name   string
		lines  []string
		want   map[string]float64
		tokens int
	}{
		{"nothing of it", []string{"acceptance of terms", "draft", ""}, nil, 0},
		{"before V1", []string{v0Line, v0Stage}, emitted(counts(-1, 248165, 197711), 190541), 5},
		{"before V1, older wording", []string{v0Older}, emitted(counts(-1, 396390, 311498), 193355), 10},
		{
			"before V1: lines count from the start",
			[]string{v0Line, v0Line, v0Older},
			emitted(counts(-1, 396390, 311498), 193355), 10,
		},
		{"V1: lines are added up", []string{v1Early, v1Later}, counts(200, 600, 300, 150, 90, 60), 3},
		{"V1: a time without drafts", []string{v1Early, v1Idle, v1Older}, counts(100, 300, 180, 80, 60, 40), 3},
		{"V1: drafts of less than full length", []string{v1Short}, counts(40, 60, 20, 12, 6, 2), 3},
		{"llama-server", []string{llamaLine, llamaLine}, counts(32, 242, 94), 0},
		{"llama-server, older wording: no drafts", []string{llamaOld, llamaLine}, counts(-1, 418, 218), 0},
		{"llama-server, none accepted", []string{llamaNone}, counts(-1, 12, 0), 0},
	} {
		var l draftLog
		for _, line := range c.lines {
			l.look(line)
		}
		if diff := cmp.Diff(c.want, l.counters(), cmp.Comparer(func(a, b float64) bool {
			return math.Abs(a-b) < 1e-9
		})); diff != "" || l.tokens != c.tokens {
			t.Errorf("%s: counters: k %d, want %d, (-want +got)\n%s", c.name, l.tokens, c.tokens, diff)
		}
	}
	var l draftLog
	l.look(v0Stage)
	l.look(v0Line)
	if l.line != v0Line || l.stageLine != v0Stage {
		t.Errorf("lines kept: %q and %q, want the two last ones as they are", l.line, l.stageLine)
	}
}

// Whatever a log says, sums stay sums: they never fall but where a line counts
// from the start, and are never negative or without a number.
func FuzzDraftLog(f *testing.F) {
	for _, line := range []string{
		v0Line, v0Older, v0Stage, v1Early, v1Later, v1Idle, v1Short, v1Older, llamaLine,
		llamaOld, llamaNone,
	} {
		f.Add(line, line)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		var l draftLog
		l.look(a)
		before := l.counters()
		l.look(b)
		for name, v := range l.counters() {
			if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
				t.Errorf("%q, %q: %s = %v", a, b, name, v)
			}
			if fell := v < before[name]; fell && !strings.Contains(b, "Speculative metrics: ") {
				t.Errorf("%q, %q: %s fell from %v to %v", a, b, name, before[name], v)
			}
		}
	})
}
