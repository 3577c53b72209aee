package proc

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestContention: counters are read where the kernel has them, and are unknown
// where it does not or says something else.
func TestContention(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name, stat, pressure string
		steal, waited        *time.Duration
	}{
		{
			"both", "cpu  1 2 3 4 5 6 7 150 0 0\ncpu0 1 2 3 4 5 6 7 9\n",
			"some avg10=98.68 avg60=94.16 avg300=53.17 total=2500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n",
			new(1500 * ms), new(2500 * ms),
		},
		{"no files", "", "", nil, nil},
		{"an old kernel", "cpu  1 2 3 4 5 6 7\n", "", nil, nil},
		{"no numbers", "cpu  1 2 3 4 5 6 7 x\n", "some total=x\n", nil, nil},
		{"negative", "cpu  1 2 3 4 5 6 7 -1\n", "some total=-5\n", nil, nil},
		{"another line first", "intr 1 2 3 4 5 6 7 8 9\n", "full avg10=0 total=5\n", nil, nil},
	} {
		root := t.TempDir()
		for name, text := range map[string]string{"stat": c.stat, "pressure/cpu": c.pressure} {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if text == "" {
				continue
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got := FS(root).Contention()
		if !same(got.Steal, c.steal) || !same(got.Pressure, c.waited) {
			t.Errorf("%s: %v, %v, want %v, %v", c.name, got.Steal, got.Pressure, c.steal, c.waited)
		}
	}
}

func same(a, b *time.Duration) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
