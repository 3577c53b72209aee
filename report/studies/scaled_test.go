package studies

import "testing"

// A value that is not zero is not shown as zero.
func TestScaled(t *testing.T) {
	for _, tt := range []struct {
		value, unit float64
		want        string
	}{
		{8e9, 1 << 30, "7.45"},
		{1e6, 1 << 30, "0.00093"},
		{1e6, 1e9, "0.0010"},
		{0.0051, 1, "0.01"},
		{0.004, 1, "0.0040"},
		{0, 1, "0.00"},
	} {
		if got := scaledFloat(&tt.value, tt.unit); got != tt.want {
			t.Errorf("scaledFloat(%v, %v) = %q, want %q", tt.value, tt.unit, got, tt.want)
		}
	}
}
