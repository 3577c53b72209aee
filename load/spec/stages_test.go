package spec

import (
	"strings"
	"testing"
	"time"
)

func TestCheckStages(t *testing.T) {
	byRate := func(name string, rate float64, last time.Duration) Stage {
		return Stage{Name: name, RequestRate: &rate, Duration: last}
	}
	capped := func(name string, limit int) Stage {
		return Stage{Name: name, MaxConcurrency: limit, Duration: time.Second}
	}
	for _, tt := range []struct {
		name   string
		stages []Stage
		want   string
	}{
		{"none", nil, ""},
		{"rates", []Stage{byRate("a", 2, time.Minute), byRate("b", 0, time.Second), byRate("c", 20, time.Second)}, ""},
		{"caps", []Stage{capped("a", 1), capped("b", 8)}, ""},
		{"both kinds", []Stage{byRate("a", 2, time.Minute), capped("b", 8)}, "stage b has concurrency 8"},
		{"neither", []Stage{{Name: "a", Duration: time.Second}}, "want either a request rate or a cap"},
		{"no time", []Stage{byRate("a", 2, 0)}, "stage a lasts 0s"},
		{"twice", []Stage{capped("a", 1), capped("a", 2)}, `two stages are named "a"`},
		{"nothing", []Stage{byRate("a", 0, time.Second)}, "no stage has a request rate above 0"},
		{"below 0", []Stage{byRate("a", -1, time.Second)}, "want 0, or"},
		{"too many", []Stage{byRate("a", 1e6, time.Minute)}, "make 6e+07 requests"},
	} {
		err := CheckStages(tt.stages)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}
