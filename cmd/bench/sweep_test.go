package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchrig/results"
)

func TestSweptBy(t *testing.T) {
	const line = `{"node":"n2","pids_ended":[7],"signals":["TERM"],"pids_gone":true,"vram":[]}`
	for _, test := range []struct {
		name, out string
		clean     bool
		fails     bool
	}{
		{"a line", line + "\n", true, false},
		{"after a note of the site", "welcome to n2\n" + line + "\n", true, false},
		{"processes that stay", strings.Replace(line, "true", "false", 1), false, false},
		{"nothing", "", false, true},
		{"no JSON", "bench: not found\n", false, true},
	} {
		got, err := sweptBy(test.out)
		if (err != nil) != test.fails || got.Clean() != test.clean {
			t.Errorf("%s: sweptBy(%q) = %+v, %v, want clean %v, error %v", test.name, test.out, got, err, test.clean, test.fails)
		}
	}
}

// Jobs of one array have as many nodes; a cluster allows so many in one.
func TestArrays(t *testing.T) {
	groups := []results.Group{{ID: "a"}, {ID: "b", Nodes: 2}, {ID: "c", Nodes: 1}, {ID: "d"}, {ID: "e", Nodes: 2}}
	var got []string
	for _, array := range arrays(groups, 2) {
		got = append(got, strings.Join(array.ids(), " "))
	}
	if diff := cmp.Diff([]string{"a c", "d", "b e"}, got); diff != "" {
		t.Errorf("arrays() differs (-want +got):\n%s", diff)
	}
}
