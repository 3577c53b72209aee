package proc

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseCPUInfo(t *testing.T) {
	cpu := func(socket, core string) string {
		return "processor\t: 0\nmodel name\t: AMD EPYC 9654 96-Core Processor\nphysical id\t: " + socket +
			"\ncore id\t\t: " + core + "\nflags\t\t: fpu\n\n"
	}
	tests := []struct {
		name, in, model string
		cores           *int
	}{
		{
			"two sockets with two threads a core", cpu("0", "0") + cpu("0", "1") + cpu("0", "0") + cpu("1", "0"),
			"AMD EPYC 9654 96-Core Processor", new(3),
		},
		{"arm64", "processor\t: 0\nBogoMIPS\t: 50.00\nCPU part\t: 0xd40\n\n", "", nil},
		{"nothing", "", "", nil},
	}
	for _, test := range tests {
		got := parseCPUInfo(test.in)
		if diff := cmp.Diff(test.cores, got.Cores); diff != "" || got.Model != test.model {
			t.Errorf("%s: parseCPUInfo = %q, cores %s, want %q", test.name, got.Model, diff, test.model)
		}
	}
}

func FuzzParseCPUInfo(f *testing.F) {
	f.Add("physical id : 0\ncore id : 1\n\nphysical id : 0\ncore id : 2\n")
	f.Add("model name : x\ncore id : 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		got := parseCPUInfo(text)
		if got.Cores != nil && (*got.Cores < 1 || *got.Cores > strings.Count(text, "\n")+1) {
			t.Errorf("parseCPUInfo(%q): %d cores", text, *got.Cores)
		}
	})
}
