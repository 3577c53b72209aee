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
	if facts.MemoryBytes == nil || *facts.MemoryBytes <= 0 || facts.FreeBytes == nil ||
		*facts.FreeBytes > *facts.MemoryBytes {
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
