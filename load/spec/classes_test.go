package spec

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKinds(t *testing.T) {
	split := []Adapter{{"a", 0.75}, {"b", 0.25}}
	for _, tt := range []struct {
		name string
		s    Settings
		want []Kind
	}{
		{"all alike", Settings{}, nil},
		{"adapters", Settings{Adapters: split}, []Kind{{0, "a", 0.75}, {0, "b", 0.25}}},
		{
			"classes",
			Settings{Classes: []Class{{Name: "x", Share: 0.5, Adapters: split}, {Name: "y", Share: 0.5}}},
			[]Kind{{1, "a", 0.375}, {1, "b", 0.125}, {2, "", 0.5}},
		},
	} {
		if diff := cmp.Diff(tt.want, tt.s.Kinds()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestCounts(t *testing.T) {
	thirds := []Kind{{Class: 1, Share: 1. / 3}, {Class: 2, Share: 1. / 3}, {Class: 3, Share: 1. / 3}}
	for _, tt := range []struct {
		kinds []Kind
		n     int
		want  []int
	}{
		{[]Kind{{Class: 1, Share: 0.7}, {Class: 2, Share: 0.3}}, 10, []int{7, 3}},
		{[]Kind{{Class: 1, Share: 0.7}, {Class: 2, Share: 0.3}}, 5, []int{4, 1}},
		{thirds, 100, []int{34, 33, 33}},
		{thirds, 2, []int{1, 1, 0}},
		{[]Kind{{Class: 1, Share: 0.999}, {Class: 2, Share: 0.001}}, 100, []int{100, 0}},
	} {
		got := Counts(tt.kinds, tt.n)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Counts(%v, %d) (-want +got):\n%s", tt.kinds, tt.n, diff)
		}
	}
	if got := OfClass(thirds, []int{34, 33, 33}, 2); got != 33 {
		t.Errorf("class 2 has %d requests, want 33", got)
	}
	if diff := cmp.Diff([]int{2, 2, 1}, InTurn(thirds, 5)); diff != "" {
		t.Errorf("in turn (-want +got):\n%s", diff)
	}
}

func TestOfClass(t *testing.T) {
	one := 1.0
	s := Settings{IgnoreEOS: true, Resend: 3, Classes: []Class{{Name: "x", Sampling: Sampling{Temperature: &one}}}}
	if own := s.OfClass(1); own.IgnoreEOS || own.Sampling.Temperature != &one || own.Resend != 3 {
		t.Errorf("settings of class 1: %+v", own)
	}
	if s.OfClass(0) != &s || s.OfClass(2) != &s {
		t.Error("requests of no class have the settings of the load")
	}
}
