package amd

import (
	"testing"

	"github.com/benchrig/bench/internal/fakegpu"
)

// A GPU that shares the CPU's memory is known by its kind or by the format of
// the driver's table; a suspended one is not asked for it.
func TestUnified(t *testing.T) {
	tests := []struct {
		name, gfx, status, table string
		want                     bool
	}{
		{"Strix Halo", "gfx1151", "active", "", true},
		{"table of an APU", "gfx9999", "active", "\x78\x00\x02\x01", true},
		{"newer table of an APU", "", "active", "\x08\x01\x03\x00", true},
		{"table whose size looks like a space", "gfx942", "active", "\x20\x01\x01\x04", false},
		{"asleep", "", "suspended", "\x78\x00\x02\x01", false},
		{"no table", "gfx942", "active", "", false},
	}
	for _, test := range tests {
		root := fakegpu.Tree(t, map[string]string{
			"gpu_metrics":          test.table,
			"power/runtime_status": test.status + "\n",
		})
		if got := unified(root, test.gfx); got != test.want {
			t.Errorf("%s: unified = %t, want %t", test.name, got, test.want)
		}
	}
}

func TestGFXNames(t *testing.T) {
	tests := map[uint64]string{
		90402: "gfx942", 90010: "gfx90a", 110501: "gfx1151", 90500: "gfx950",
		120001: "gfx1201", 0: "",
	}
	for version, want := range tests {
		if got := newKFDNode(map[string]uint64{"gfx_target_version": version}).gfx; got != want {
			t.Errorf("gfx of %d = %q, want %q", version, got, want)
		}
	}
}
