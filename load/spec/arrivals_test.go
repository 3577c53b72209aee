package spec

import (
	"math"
	"strings"
	"testing"
	"time"
)

// TestOddSchedules: what exhausted memory, hung or ended with NaN is refused.
func TestOddSchedules(t *testing.T) {
	inf := math.Inf(1)
	for _, tt := range []struct {
		name             string
		rate, burstiness float64
		ramp             Ramp
		duration         time.Duration
		want             string
	}{
		{"all at once", inf, 1, Ramp{}, 0, ""},
		{"poisson", 10, 1, Ramp{}, time.Hour, ""},
		{"constant", 10, inf, Ramp{}, 0, ""},
		{"fastest", maxRate, 1, Ramp{}, 10 * time.Second, ""},
		{"ramp from nothing", inf, 1, Ramp{RampLinear, 0, 5}, 0, ""},
		{"1e12 a second", 1e12, 1, Ramp{}, time.Minute, "request rate 1e+12"},
		{"1e-320 a second", 1e-320, 1, Ramp{}, 0, "request rate 1e-320"},
		{"not a number", math.NaN(), 1, Ramp{}, 0, "request rate NaN"},
		{"burstiness 1e-9", 10, 1e-9, Ramp{}, time.Minute, "burstiness 1e-09"},
		{"burstiness 0", 10, 0, Ramp{}, 0, "burstiness 0"},
		{"too many", 1e6, 1, Ramp{}, time.Hour, "makes 3.6e+09 requests"},
		{"ramp of 2e9", inf, 1, Ramp{RampLinear, 1, 2e9}, 0, "ramp from 1 to 2e+09"},
		{"ramp to infinity", inf, 1, Ramp{RampLinear, 1, inf}, 0, "ramp from 1 to +Inf"},
		{"exponential from 0", inf, 1, Ramp{RampExponential, 0, 5}, 0, "cannot start at 0"},
		{"unknown ramp", inf, 1, Ramp{"square", 1, 5}, 0, `ramp strategy "square"`},
		{"ramp of nothing", inf, 1, Ramp{RampLinear, 0, 0}, 0, "want a rate above 0"},
	} {
		err := CheckArrivals(tt.rate, tt.burstiness, tt.ramp, tt.duration)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}
