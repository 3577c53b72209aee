package metrics

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/results"
)

func turnRecord(conversation, turn int, sent, first, end float64, input, cached int) results.Record {
	return results.Record{
		Conversation: conversation, Turn: turn, SentS: &sent, EndS: end, ChunkS: []float64{first, end},
		ChunkKinds: "tt", InputTokens: &input, CachedTokens: &cached, OutputTokens: new(2),
	}
}

func TestSessions(t *testing.T) {
	failed := turnRecord(2, 2, 5, 5.5, 6, 1, 1)
	failed.Failure = &results.Failure{Class: results.FailHTTP}
	records := []results.Record{
		turnRecord(1, 1, 1, 1.5, 2, 100, 0), turnRecord(1, 2, 3, 3.25, 4, 200, 100),
		turnRecord(2, 1, 1, 1.25, 2, 100, 50), failed,
		turnRecord(3, 1, 6, 6.5, 7, 100, 0), // goes round: as session 1, and its second turn was never sent
	}
	f := Summarize(records, Params{DurationS: 10, SessionSizes: []int{2, 2}})
	got := f.Sessions
	if got.N != 3 || got.Complete != 1 || *got.Duration.Median != 3 {
		t.Errorf("%d sessions, %d complete, duration %v; want 3, 1, 3 s", got.N, got.Complete, *got.Duration.Median)
	}

	type turn struct {
		From, To, N, Failed     int
		TTFT, E2EL, Input, Hits float64
	}
	var turns []turn
	for _, v := range got.Turns {
		turns = append(turns, turn{
			v.From, v.To, v.N, v.Failed, *v.TTFT.Median, *v.E2EL.Median, *v.InputTokensMean, *v.CachedShare,
		})
	}
	want := []turn{{1, 1, 3, 0, 0.5, 1, 100, 50.0 / 300}, {2, 2, 1, 1, 0.25, 1, 200, 0.5}}
	if diff := cmp.Diff(want, turns); diff != "" {
		t.Errorf("turns:\n%s", diff)
	}
	if single := Summarize(records[:0], Params{DurationS: 1}); single.Sessions != nil {
		t.Error("a pass without conversations has sessions")
	}
}

func TestTurnClasses(t *testing.T) {
	for turn, want := range map[int]int{1: 1, 8: 8, 9: 9, 16: 9, 17: 17, 32: 17, 33: 33, 64: 33, 65: 65, 1000: 513} {
		if got := turnClass(turn); got != want {
			t.Errorf("turn %d is in the class of %d, want %d", turn, got, want)
		}
	}
}
