package scenarios

import (
	"testing"
	"time"
)

func TestMoment(t *testing.T) {
	now := time.Date(2026, 11, 28, 21, 30, 15, 0, time.Local)
	for _, c := range []struct {
		text string
		want time.Time // zero: refused
	}{
		{"22:00", time.Date(2026, 11, 28, 22, 0, 0, 0, time.Local)},
		{"07:30", time.Date(2026, 11, 29, 7, 30, 0, 0, time.Local)},
		{"21:30", time.Date(2026, 11, 29, 21, 30, 0, 0, time.Local)},
		{"2026-12-01 08:00", time.Date(2026, 12, 1, 8, 0, 0, 0, time.Local)},
		{"2026-11-01 08:00", time.Date(2026, 11, 1, 8, 0, 0, 0, time.Local)}, // over
		{"2026-11-29T07:30:00Z", time.Date(2026, 11, 29, 7, 30, 0, 0, time.UTC)},
		{"25:00", time.Time{}},
		{"tomorrow", time.Time{}},
		{"8h", time.Time{}},
	} {
		m, err := ParseMoment(c.text)
		if (err != nil) != c.want.IsZero() {
			t.Errorf("ParseMoment(%q): %v", c.text, err)
			continue
		}
		if err == nil && !m.From(now).Equal(c.want) {
			t.Errorf("%q from %s is %s, want %s", c.text, now, m.From(now), c.want)
		}
	}
	if !(Moment{}).IsZero() {
		t.Error("the zero value is a moment")
	}
}
