package load

import (
	"slices"
	"testing"
	"time"

	"github.com/benchrig/bench/load/wire"
)

// TestLateOfMergedSegments: the kernel merges segments that wait in a socket under the stamp of the
// newest. So the stamp of a read that left bytes counts only once the next read shows it to be
// that of another segment.
func TestLateOfMergedSegments(t *testing.T) {
	type chunk struct {
		stamp, notBefore float64 // ms
		left             bool
		grew             int
		read             bool // the moment of reading stands for a stamp
	}
	for _, c := range []struct {
		name   string
		chunks []chunk
		want   []float64
	}{
		{"each in time", []chunk{{stamp: 10}, {stamp: 20, notBefore: 12}}, nil},
		{
			"one read of three",
			[]chunk{{stamp: 30, notBefore: 5}, {stamp: 30, notBefore: 5}, {stamp: 30, notBefore: 5}},
			[]float64{25, 25},
		},
		{
			"cut, each a segment",
			[]chunk{{stamp: 10, left: true, grew: 1}, {stamp: 20, left: true, grew: 1}, {stamp: 30, grew: 1}},
			[]float64{0, 0},
		},
		{
			"cut, two of them merged",
			[]chunk{{stamp: 20, left: true, grew: 1}, {stamp: 20, left: true, grew: 1}, {stamp: 30, grew: 1}},
			[]float64{20, 0},
		},
		{
			// The second was merged with a third after the first was read: its stamp is another one,
			// and says nothing of the first.
			"merged while it was cut",
			[]chunk{
				{stamp: 20, notBefore: 5, left: true, grew: 1},
				{stamp: 50, left: true, grew: 2},
				{stamp: 50, grew: 2},
			},
			[]float64{15, 45},
		},
		{
			"what comes after is bounded by what was surely there",
			[]chunk{{stamp: 20, notBefore: 5, left: true, grew: 1}, {stamp: 40, left: true, grew: 2, notBefore: 8}},
			[]float64{15, 32},
		},
		{
			"without stamps",
			[]chunk{{stamp: 10, read: true}, {stamp: 25, read: true, notBefore: 2}},
			[]float64{10, 15},
		},
	} {
		at := &arrivalList{}
		a := &answer{arrivals: at}
		for _, k := range c.chunks {
			at.next = wire.Arrival{
				NotBefore: time.Duration(k.notBefore * float64(time.Millisecond)), Exact: !k.read, Known: true,
				Left: k.left, Grew: k.grew,
			}
			stamp := time.Duration(k.stamp * float64(time.Millisecond))
			a.chunkS = append(a.chunkS, stamp.Seconds())
			a.noteLate(stamp)
		}

		var got []float64
		for i, late := range a.late[:min(len(a.late), len(a.chunkS))] {
			if late > 0 || i < len(c.want) {
				got = append(got, 1e3*late)
			}
		}
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return a-b < 1e-6 && b-a < 1e-6 }) {
			t.Errorf("%s: earlier by up to %v ms, want %v", c.name, got, c.want)
		}
	}
}

type arrivalList struct{ next wire.Arrival }

func (l *arrivalList) Arrival() wire.Arrival { return l.next }
