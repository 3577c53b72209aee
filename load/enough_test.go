package load

import (
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
)

// TestEnough ends the sending with the first answer; what is in flight then goes
// on to its end, and nothing is called interrupted.
func TestEnough(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		n    int
		want []float64 // send times; each request takes 1 s
	}{
		{"open loop", Options{Arrivals: []float64{0, 0.5, 1.25, 1.5, 60}}, 5, []float64{0, 0.5}},
		{
			"with a duration",
			Options{
				Settings: spec.Settings{Duration: time.Hour},
				Arrivals: []float64{0, 0.5, 1.25, 1.5, 60}, Repeat: true,
			},
			2,
			[]float64{0, 0.5},
		},
		{
			"behind a cap",
			Options{Settings: spec.Settings{MaxConcurrency: 1}, Arrivals: []float64{0, 1.5, 1.75}},
			3,
			[]float64{0},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &pipeServer{answer: steady(400*time.Millisecond, 600*time.Millisecond)}
				var told []int
				c.o.Enough = func(r *results.Record) bool {
					told = append(told, r.Index)
					return true
				}
				records, report, err := runPipe(t.Context(), s, c.o, c.n)
				if err != nil || report.Interrupted != "" || len(told) != len(records) {
					t.Errorf("%v, interrupted %q, called for %v of %d records", err, report.Interrupted, told,
						len(records))
				}
				if diff := gocmp.Diff(c.want, sentTimes(records)); diff != "" {
					t.Errorf("sent at (-want +got):\n%s", diff)
				}
				for _, r := range records {
					if r.Failure != nil {
						t.Errorf("request %d: %v", r.Index, r.Failure)
					}
				}
				s.wg.Wait()
			})
		})
	}
}
