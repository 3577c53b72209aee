package curves

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMergedSketchesAreThatOfAllValues(t *testing.T) {
	var all, a, b, empty Sketch
	for i := range 1000 {
		v := float64(i-300) / 7
		all.Add(v)
		if i%3 == 0 {
			a.Add(v)
		} else {
			b.Add(v)
		}
	}
	var merged Sketch
	for _, part := range []*Sketch{&empty, &b, &a, &empty} {
		merged.Merge(part)
	}
	if diff := cmp.Diff(all.Vertices(), merged.Vertices()); diff != "" || merged.N() != 1000 {
		t.Errorf("merged has %d values (-all +merged):\n%s", merged.N(), diff)
	}
}
