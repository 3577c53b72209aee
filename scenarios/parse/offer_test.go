package parse

import (
	"slices"
	"testing"
)

func TestOfferSets(t *testing.T) {
	source := []byte("schema: 1\nvars: {model: m, size: 8}\nvariants: []")
	for _, tt := range []struct {
		begun      string
		has, hasNo []string
	}{
		{"", []string{"load.", "repeats=", "vars.", "order="}, []string{"load.dataset.", "order=interleaved"}},
		{"load.da", []string{"load.dataset."}, []string{"load.num-prompts="}},
		{"load.num", []string{"load.num-prompts="}, nil},
		{"vars.", []string{"vars.model=", "vars.size="}, nil},
		{"order=", []string{"order=interleaved"}, []string{"order="}},
		{"load.ignore-eos=", []string{"load.ignore-eos=true", "load.ignore-eos=false"}, nil},
		{"server.args", []string{"server.args."}, nil},
		{"nonsense", nil, []string{"nonsense"}},
	} {
		got := OfferSets(source, tt.begun)
		for _, want := range tt.has {
			if !slices.Contains(got, want) {
				t.Errorf("%q: %q lacks %q", tt.begun, got, want)
			}
		}
		for _, other := range tt.hasNo {
			if slices.Contains(got, other) {
				t.Errorf("%q: %q has %q", tt.begun, got, other)
			}
		}
	}

	// A file that cannot be read offers the keys all the same.
	if got := OfferSets([]byte("a: [\x00"), "rep"); !slices.Contains(got, "repeats=") {
		t.Errorf("of a broken file: %q", got)
	}
}
