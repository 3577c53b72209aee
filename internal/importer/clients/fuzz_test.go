package clients

import (
	"testing"

	"github.com/benchrig/bench/internal/importer/lenient"
)

// Every key of a saved result is kept.
func FuzzSaved(f *testing.F) {
	f.Add([]byte(
		`{"duration": 1.5, "completed": 2, "request_rate": "inf", "x": [1, {"y": NaN}], "mean_ttft_ms": -Infinity}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		objects, err := lenient.ObjectsIn(data)
		if err != nil {
			return
		}
		for _, o := range objects {
			e := fromSaved("fuzz", VLLM, o)
			for _, key := range o.Keys {
				kept := 0
				for _, s := range e.Origin.Stated {
					if s.Label == key {
						kept++
					}
				}
				if kept == 0 {
					t.Errorf("key %q is lost", key)
				}
			}
		}
	})
}
