package gpu

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHost(t *testing.T) {
	facts := Host(t.Context())
	if facts.Kernel == "" || facts.Hostname == "" || facts.OS == "" || facts.Arch == "" {
		t.Errorf("Host = %+v, want system facts", facts)
	}
	if facts.MemoryBytes == nil || *facts.MemoryBytes <= 0 || facts.FreeBytes == nil || *facts.FreeBytes > *facts.MemoryBytes {
		t.Errorf("memory = %v, available = %v", facts.MemoryBytes, facts.FreeBytes)
	}
	if facts.Threads == nil || *facts.Threads < 1 {
		t.Errorf("threads = %v", facts.Threads)
	}
	text, err := json.Marshal(facts)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{`"cpu_model":`, `"memory_bytes":`, `"load_1m":`, `"notes":[`} {
		if !strings.Contains(string(text), key) {
			t.Errorf("JSON %s lacks %s", text, key)
		}
	}
}

func TestHostWithoutFacts(t *testing.T) {
	var facts HostFacts
	facts.note("load", context.Canceled)
	facts.note("memory", nil)
	want := []string{"load: context canceled", "memory: the system does not say"}
	if diff := cmp.Diff(want, facts.Notes); diff != "" {
		t.Errorf("notes differ (-want +got):\n%s", diff)
	}
}

func TestParseCPUInfo(t *testing.T) {
	cpu := func(socket, core string) string {
		return "processor\t: 0\nmodel name\t: AMD EPYC 9654 96-Core Processor\nphysical id\t: " + socket + "\ncore id\t\t: " + core + "\nflags\t\t: fpu\n\n"
	}
	tests := []struct {
		name, in, model string
		cores           *int
	}{
		{"two sockets with two threads a core", cpu("0", "0") + cpu("0", "1") + cpu("0", "0") + cpu("1", "0"), "AMD EPYC 9654 96-Core Processor", new(3)},
		{"arm64", "processor\t: 0\nBogoMIPS\t: 50.00\nCPU part\t: 0xd40\n\n", "", nil},
		{"nothing", "", "", nil},
	}
	for _, test := range tests {
		got := parseCPUInfo(test.in)
		if diff := cmp.Diff(test.cores, got.cores); diff != "" || got.model != test.model {
			t.Errorf("%s: parseCPUInfo = %q, cores %s, want %q", test.name, got.model, diff, test.model)
		}
	}
}

func FuzzParseCPUInfo(f *testing.F) {
	f.Add("physical id : 0\ncore id : 1\n\nphysical id : 0\ncore id : 2\n")
	f.Add("model name : x\ncore id : 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		got := parseCPUInfo(text)
		if got.cores != nil && (*got.cores < 1 || *got.cores > strings.Count(text, "\n")+1) {
			t.Errorf("parseCPUInfo(%q): %d cores", text, *got.cores)
		}
	})
}
