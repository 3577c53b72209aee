package metrics

import (
	"testing"

	"github.com/benchrig/bench/results"
)

func TestTailOf(t *testing.T) {
	for _, tt := range []struct {
		percentiles []float64
		want        float64
	}{
		{nil, 99},
		{[]float64{25, 50}, 99},
		{[]float64{50, 90}, 90},
		{[]float64{50, 90, 95}, 95},
		{[]float64{50, 99, 99.9}, 99},
		{[]float64{90, 99.9}, 99.9},
	} {
		var d results.Dist
		for _, p := range tt.percentiles {
			d.Percentiles = append(d.Percentiles, results.PercentileFigure{P: p})
		}
		if got := TailOf(d); got != tt.want {
			t.Errorf("of %v the tail is %v, want %v", tt.percentiles, got, tt.want)
		}
	}
}
