package compare

import (
	"math"
	"testing"

	"github.com/aclements/go-moremath/stats"
)

// Values by R's qt, and by bisection.
func TestTQuantile(t *testing.T) {
	for _, tt := range []struct{ confidence, df, want float64 }{
		{0.95, 1, 12.706204736174707},
		{0.95, 2, 4.302652729749464},
		{0.95, 4, 2.7764451051977934},
		{0.999, 1, 636.6192487687},
	} {
		if got := TQuantile(tt.confidence, tt.df); math.Abs(got-tt.want) > 1e-12*tt.want {
			t.Errorf("TQuantile(%v, %v) = %.16g, want %v", tt.confidence, tt.df, got, tt.want)
		}
	}

	for _, confidence := range []float64{0.5, 0.8, 0.95, 0.99, 0.9999} {
		for _, df := range []float64{1, 1.01, 1.5, 2.7, 9.3, 40, 1e3, 1e6} {
			want := stats.InvCDF(stats.TDist{V: df})(1 - (1-confidence)/2)
			if got := TQuantile(confidence, df); math.Abs(got-want) > 1e-9*want {
				t.Errorf("TQuantile(%v, %v) = %.16g, by bisection %.16g", confidence, df, got, want)
			}
		}
	}
}
