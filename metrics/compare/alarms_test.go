package compare

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the table of simulated pairs in docs/metrics.md")

// simulated is a kind of pair of arms of which many are drawn.
type simulated struct {
	name    string
	n       int
	more    int     // starts that the candidate has above n
	figures int     // judged together
	spread  float64 // of the baseline, relative
	other   float64 // of the candidate
	digits  float64 // step to which values are rounded; 0: not
	drift   float64 // relative change from one life to the next
	apart   float64 // relative distance of the two levels of which each start has one; 0: one level
	levels  bool    // the drift levels off, as a machine that warms up does
	grouped bool    // all lives of one arm first
	delta   float64 // true difference; 0: every verdict is a false alarm
}

func simulatedPairs() []simulated {
	var all []simulated
	for _, n := range []int{2, 3, 5, 10} {
		all = append(all, simulated{name: "equal variants", n: n, figures: 1, spread: 0.01, other: 0.01})
	}
	for _, n := range []int{2, 3, 5} {
		all = append(all,
			simulated{name: "spreads 1 : 10", n: n, figures: 1, spread: 0.002, other: 0.02},
			simulated{name: "rounded to 1 %", n: n, figures: 1, spread: 0.004, other: 0.004, digits: 1},
			simulated{name: "rounded to 1 %, spreads 1 : 10", n: n, figures: 1, spread: 0.001, other: 0.01, digits: 1},
			simulated{name: "nine figures", n: n, figures: 9, spread: 0.01, other: 0.01},
			simulated{name: "nine figures, rounded to 1 %", n: n, figures: 9, spread: 0.004, other: 0.004, digits: 1},
		)
	}
	for _, n := range []int{3, 5, 10} {
		all = append(all, simulated{
			name: "each start at one of two levels 2 % apart", n: n, figures: 1, spread: 0.0001, other: 0.0001,
			apart: 0.02,
		})
	}
	all = append(all, unequalPairs()...)
	for _, n := range []int{3, 5, 10} {
		all = append(all,
			simulated{
				name: "drift of 1 % per start, one variant after the other", n: n, figures: 1, spread: 0.01,
				other: 0.01,
				drift: 0.01, grouped: true,
			},
			simulated{
				name: "drift of 3 % per start that levels off, one variant after the other", n: n, figures: 1,
				spread: 0.01, other: 0.01, drift: 0.03, levels: true, grouped: true,
			},
			simulated{
				name: "drift of 1 % per start, interleaved", n: n, figures: 1, spread: 0.01,
				other: 0.01, drift: 0.01,
			},
		)
	}
	return append(all,
		simulated{name: "5 % more", n: 3, figures: 1, spread: 0.01, other: 0.01, delta: 0.05},
		simulated{name: "5 % more", n: 5, figures: 1, spread: 0.01, other: 0.01, delta: 0.05},
		simulated{
			name: "5 % more, one variant after the other", n: 5, figures: 1, spread: 0.01, other: 0.01,
			grouped: true, delta: 0.05,
		},
		simulated{name: "5 % more of nine figures", n: 5, figures: 9, spread: 0.01, other: 0.01, delta: 0.05},
	)
}

// unequalPairs are those of which one arm has more starts than the other.
func unequalPairs() []simulated {
	var all []simulated
	for _, n := range [][2]int{{2, 10}, {3, 5}, {3, 10}, {5, 10}} {
		of := func(name string, s simulated) {
			s.name, s.n, s.more, s.figures = fmt.Sprintf("%s, the other has %d", name, n[1]), n[0], n[1]-n[0], 1
			all = append(all, s)
		}
		of("equal variants", simulated{spread: 0.01, other: 0.01})
		of("spreads 1 : 10", simulated{spread: 0.002, other: 0.02})
		of("spreads 10 : 1", simulated{spread: 0.02, other: 0.002})
		of("each start at one of two levels 2 % apart", simulated{spread: 0.0001, other: 0.0001, apart: 0.02})
	}
	return append(all, simulated{
		name: "5 % more, the other has 10", n: 3, more: 7, figures: 1, spread: 0.01, other: 0.01, delta: 0.05,
	})
}

// pair draws one figure of both arms, and when their lives began.
func (s simulated) pair(random *rand.Rand) (a, b, beganA, beganB []float64) {
	for i := range 2*s.n + s.more {
		isCandidate := i%2 == 1 || i >= 2*s.n
		if s.grouped {
			isCandidate = i >= s.n
		}
		spread, mean := s.spread, 100.0
		if isCandidate {
			spread, mean = s.other, 100*(1+s.delta)
		}
		if s.apart > 0 {
			mean *= 1 + s.apart*float64(random.IntN(2))
		}
		place := float64(i)
		if s.levels {
			place = 2 * (1 - math.Exp(-place/2))
		}
		v := mean * (1 + s.drift*place + spread*random.NormFloat64())
		if s.digits > 0 {
			v = math.Round(v/s.digits) * s.digits
		}
		if isCandidate {
			b, beganB = append(b, v), append(beganB, float64(i))
		} else {
			a, beganA = append(a, v), append(beganA, float64(i))
		}
	}
	return a, b, beganA, beganB
}

// allowed is the share of false alarms that docs/metrics.md promises not to reach.
func (s simulated) allowed() float64 {
	if s.more > 0 && s.spread > s.other {
		return 0.06
	}
	return 0.05
}

// told is the share of many pairs of which one figure at least is called better
// or worse.
func (s simulated) told(many int) float64 {
	random := rand.New(rand.NewPCG(7, uint64(s.n*100+s.more*1000+s.figures)))
	rule := DefaultRule()
	rule.Rounds = 1
	told := 0
	for range many {
		all := make([]Difference, s.figures)
		for i := range all {
			a, b, beganA, beganB := s.pair(random)
			x, y := Sample{"a", a}, Sample{"b", b}
			all[i] = Compare("f", true, x, y, rule)
			all[i].allowForDrift(x, y, beganA, beganB, rule)
		}
		decide(all, rule)
		for _, d := range all {
			if d.Verdict == Better || d.Verdict == Worse {
				told++
				break
			}
		}
	}
	return float64(told) / float64(many)
}

// False alarms stay under 5 % whatever the arms look like, and differences are
// found. The table is that of docs/metrics.md.
func TestSimulatedPairs(t *testing.T) {
	t.Parallel()
	const many = 2000
	var table strings.Builder
	table.WriteString("| two variants, n starts each | n | verdicts better or worse, of 2,000 pairs |\n|---|---:|---:|\n")
	for _, s := range simulatedPairs() {
		share := s.told(many)
		fmt.Fprintf(&table, "| %s | %d | %.1f %% |\n", s.name, s.n, 100*share)
		if s.delta == 0 && share >= s.allowed() {
			t.Errorf("%s, n %d: %.1f %% false alarms, want fewer than %.0f %%", s.name, s.n, 100*share, 100*s.allowed())
		}
		if s.delta != 0 && share < 0.5 {
			t.Errorf("%s, n %d: found in %.1f %% of the pairs, want most", s.name, s.n, 100*share)
		}
	}

	const path, begin, end = "../../docs/metrics.md",
		"<!-- simulated pairs: go test ./metrics/compare -run TestSimulatedPairs -update -->\n",
		"<!-- end of simulated pairs -->"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), begin)
	old, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s lacks the marks of the table", path)
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+table.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(old, table.String()); diff != "" {
		t.Errorf("docs/metrics.md (-page +simulation); run this test with -update:\n%s", diff)
	}
}

func TestDigitsBoundCertainty(t *testing.T) {
	tests := []struct {
		name     string
		a, b     []float64
		want     Verdict
		pAtLeast float64
	}{
		{
			"constants that differ in the last digit",
			[]float64{100, 100},
			[]float64{100.001, 100.001},
			NoDifference, 0.05,
		},
		{"constants one step of large values apart", []float64{100, 100}, []float64{101, 101}, NoDifference, 0.05},
		{"constants far apart", []float64{100, 100}, []float64{120, 120}, Better, 0},
		{"one constant", []float64{100, 100}, []float64{100, 100}, NoDifference, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := compared(tt.a, tt.b)
			if d.Verdict != tt.want || *d.PHolm < tt.pAtLeast {
				t.Errorf("verdict %q, p %v; want %q, p >= %v", d.Verdict, *d.PHolm, tt.want, tt.pAtLeast)
			}
		})
	}
}

// Values by R's coin: wilcox_test(distribution = "exact"), and by counting.
func TestRankTest(t *testing.T) {
	tests := []struct {
		name string
		a, b []float64
		want float64
	}{
		{"no ties", []float64{1, 2, 3}, []float64{4, 5, 6, 7, 8}, 2.0 / 56},
		{"ties within an arm", []float64{1, 1, 1}, []float64{2, 2, 2, 2, 2}, 2.0 / 56},
		{"all equal", []float64{1, 1}, []float64{1, 1}, 1},
		{"ties between the arms", []float64{1, 2, 2}, []float64{2, 3, 3}, 6.0 / 20},
		{"the middle", []float64{1, 4}, []float64{2, 3}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, back := rankTest(tt.a, tt.b), rankTest(tt.b, tt.a)
			if math.Abs(got-tt.want) > 1e-12 || math.Abs(got-back) > 1e-12 {
				t.Errorf("p = %v, %v the other way round; want %v", got, back, tt.want)
			}
		})
	}

	random := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var a, b []float64
		for range 2 + random.IntN(40) {
			a, b = append(a, float64(random.IntN(4))), append(b, float64(random.IntN(5)))
		}
		if p := rankTest(a, b); !(p > 0 && p <= 1) {
			t.Fatalf("p of %v and %v = %v, want within (0, 1]", a, b, p)
		}
	}
}

func TestIntervalOfRatio(t *testing.T) {
	d := compared([]float64{100, 10}, []float64{90, 12})
	if *d.Low <= -1 || *d.High <= 0 {
		t.Errorf("interval %v to %v, want within (-1, inf)", *d.Low, *d.High)
	}
	d = compared([]float64{1, 2, 3}, []float64{0, 0, 0})
	if d.Low != nil || d.Verdict != CannotTell {
		t.Errorf("a candidate of 0: interval from %v, verdict %q; want none", d.Low, d.Verdict)
	}
}

// Arms that ran one after the other with a drift have no winner, and it is said
// why.
func TestOneAfterTheOther(t *testing.T) {
	a, b := Sample{"a", []float64{100, 101.2, 101.9, 103.1, 104}}, Sample{"b", []float64{105, 106.2, 106.8, 108.1, 109}}
	judge := func(beganA, beganB []float64) Difference {
		d := Compare("f", true, a, b, DefaultRule())
		d.allowForDrift(a, b, beganA, beganB, DefaultRule())
		all := []Difference{d}
		Judge(all, DefaultRule())
		return all[0]
	}
	if d := judge([]float64{0, 1, 2, 3, 4}, []float64{5, 6, 7, 8, 9}); d.Verdict != CannotTell || !d.OneAfter {
		t.Errorf("one after the other: %q, %v; want cannot tell, for the order", d.Verdict, d.OneAfter)
	}
	if d := judge([]float64{0, 2, 4, 6, 8}, []float64{1, 3, 5, 7, 9}); d.Verdict != Better || d.OneAfter {
		t.Errorf("interleaved: %q, %v; want better", d.Verdict, d.OneAfter)
	}
	if d := judge(nil, nil); d.Verdict != Better {
		t.Errorf("unknown order: %q, want better", d.Verdict)
	}
}
