package curves

import "testing"

func TestThinLevelsKeepsPeaksAndTheEnd(t *testing.T) {
	levels := make([]Level, 1001)
	for i := range levels {
		levels[i] = Level{AtS: float64(i), Value: 1}
	}
	levels[500].Value, levels[1000].Value = 9, 0
	got := ThinLevels(levels, 100)
	peak := 0.0
	for _, l := range got {
		peak = max(peak, l.Value)
	}
	if last := got[len(got)-1]; len(got) > 102 || peak != 9 || last.AtS < 990 {
		t.Errorf("%d levels, peak %v, last %v", len(got), peak, last)
	}
}

func TestThinRequestsKeepsSomeOfTheWorst(t *testing.T) {
	rows := make([]RequestSpan, 900)
	for i := range rows {
		rows[i] = RequestSpan{Index: i, Worst: i%10 == 0}
	}
	got := ThinRequests(rows, 90)
	worst := 0
	for i, r := range got {
		if r.Worst {
			worst++
		}
		if i > 0 && r.Index <= got[i-1].Index {
			t.Fatalf("request %d after %d", r.Index, got[i-1].Index)
		}
	}
	if len(got) != 90 || worst != 30 {
		t.Errorf("%d requests, %d of the worst; want 90 and 30", len(got), worst)
	}
}
