package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/scenarios"
)

func TestCells(t *testing.T) {
	tests := []struct {
		name    string
		order   scenarios.Order
		restart scenarios.Restart
		want    string // "|" where a new server life begins
	}{
		{
			"interleaved, one life a variant and repeat", scenarios.Interleaved, scenarios.RestartVariant,
			"a-c1-1 a-c2-1|b-c1-1 b-c2-1|a-c1-2 a-c2-2|b-c1-2 b-c2-2",
		},
		{
			"interleaved, never restarted between points", scenarios.Interleaved, scenarios.RestartNever,
			"a-c1-1 a-c2-1|b-c1-1 b-c2-1|a-c1-2 a-c2-2|b-c1-2 b-c2-2",
		},
		{
			"interleaved, a life a step: variants take turns at each point", scenarios.Interleaved,
			scenarios.RestartStep,
			"a-c1-1|b-c1-1|a-c2-1|b-c2-1|a-c1-2|b-c1-2|a-c2-2|b-c2-2",
		},
		{
			"grouped, one life over all repeats", scenarios.Grouped, scenarios.RestartNever,
			"a-c1-1 a-c2-1 a-c1-2 a-c2-2|b-c1-1 b-c2-1 b-c1-2 b-c2-2",
		},
		{
			"grouped, one life a repeat", scenarios.Grouped, scenarios.RestartVariant,
			"a-c1-1 a-c2-1|a-c1-2 a-c2-2|b-c1-1 b-c2-1|b-c1-2 b-c2-2",
		},
		{
			"grouped, one life a point: its repeats share it", scenarios.Grouped, scenarios.RestartPoint,
			"a-c1-1 a-c1-2|a-c2-1 a-c2-2|b-c1-1 b-c1-2|b-c2-1 b-c2-2",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sc := sampleScenario(tt.order, tt.restart)
			if got := spell(sc, cells(sc)); got != tt.want {
				t.Errorf("cells(%s, %s) =\n %s, want\n %s", tt.order, tt.restart, got, tt.want)
			}
		})
	}
}

func spell(sc *scenarios.Scenario, all []cell) string {
	var b strings.Builder
	for i, c := range all {
		switch {
		case i == 0:
		case sameLife(sc.Restart, all[i-1], c):
			b.WriteString(" ")
		default:
			b.WriteString("|")
		}
		fmt.Fprintf(&b, "%s-%s-%d", sc.Variants[c.variant].Name, sc.Points[c.point].Label, c.repeat)
	}
	return b.String()
}

func TestShuffledKeepsRepeatsTogether(t *testing.T) {
	sc := sampleScenario(scenarios.Shuffled, scenarios.RestartVariant)
	sc.Repeats = 20
	first := cells(sc)
	if again := cells(sc); !slices.Equal(first, again) {
		t.Error("cells with one seed differ between two calls")
	}
	swapped := 0
	for r := range sc.Repeats {
		block := first[r*4 : r*4+4]
		for _, c := range block {
			if c.repeat != r+1 {
				t.Fatalf("cell %+v stands in the block of repeat %d", c, r+1)
			}
		}
		if block[0].variant == 1 {
			swapped++
		}
	}
	if swapped == 0 || swapped == sc.Repeats {
		t.Errorf("variant b came first in %d of %d repeats, want some", swapped, sc.Repeats)
	}
}

func TestNamerIsSafeAndUnique(t *testing.T) {
	n := namer{}
	tests := []struct{ in, want string }{
		{"tp2/pp4 c1", "tp2_pp4_c1"},
		{"tp2 pp4 c1", "tp2_pp4_c1+2"},
		{"tp2_pp4_c1", "tp2_pp4_c1+3"},
		{"../x", ".._x"},
	}
	for _, tt := range tests {
		if got := n.name("%s", tt.in); got != tt.want {
			t.Errorf("name(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}
