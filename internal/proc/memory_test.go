package proc

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMemory(t *testing.T) {
	const machine = "MemTotal:       24683840 kB\nMemFree: 1 kB\n"
	for _, tt := range []struct {
		name   string
		self   string // /proc/self/cgroup
		groups map[string]string
		want   int64
	}{
		{"no limit", "0::/a/b\n", map[string]string{"a/b/memory.max": "max\n"}, 24683840 << 10},
		{"version 2, a group above", "0::/a/b\n", map[string]string{
			"a/memory.max":   "1073741824\n",
			"a/b/memory.max": "max\n",
		}, 1 << 30},
		{"version 2, its own", "0::/a/b\n", map[string]string{
			"a/memory.max":   "1073741824\n",
			"a/b/memory.max": "536870912\n",
		}, 1 << 29},
		{"version 1", "5:memory:/a\n3:cpu:/a\n", map[string]string{
			"memory/a/memory.limit_in_bytes": "268435456\n",
			"memory/memory.limit_in_bytes":   "9223372036854771712\n",
		}, 1 << 28},
		{
			"a container that sees the path of the host", "0::/system.slice/docker-1.scope\n",
			map[string]string{"memory.max": "134217728\n"},
			1 << 27,
		},
		{"nonsense", "0::/a\nx\n7:memory\n", map[string]string{"a/memory.max": "-1\n"}, 24683840 << 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			procfs, groups := t.TempDir(), t.TempDir()
			files := map[string]string{
				filepath.Join(procfs, "meminfo"):     machine,
				filepath.Join(procfs, "self/cgroup"): tt.self,
			}
			for path, text := range tt.groups {
				files[filepath.Join(groups, path)] = text
			}
			for path, text := range files {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := FS(procfs).Memory(groups); got != tt.want {
				t.Errorf("memory = %d, want %d", got, tt.want)
			}
		})
	}

	if got := FS(t.TempDir()).Memory(t.TempDir()); got != 0 {
		t.Errorf("without /proc: memory = %d, want 0", got)
	}
}
