package proc

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOOMKills(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		group  string // /proc/7/cgroup
		groups map[string]string
		kills  int
		known  bool
	}{
		{
			"version 1", "4:memory:/docker/abc\n0::/\n",
			map[string]string{"memory/docker/abc/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"},
			2, true,
		},
		{
			"version 1, an old kernel that does not count", "4:memory:/docker/abc\n",
			map[string]string{"memory/docker/abc/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\n"},
			0, false,
		},
		{
			"version 2", "0::/system.slice/docker-abc.scope\n",
			map[string]string{"system.slice/docker-abc.scope/memory.events": "low 0\noom 1\noom_kill 1\n"},
			1, true,
		},
		{
			"version 2, a group without the controller", "0::/job/step/bench-x\n",
			map[string]string{"job/memory.events": "oom_kill 3\n", "job/step/bench-x/cgroup.procs": "7\n"},
			3, true,
		},
		{"the root of version 2 counts nothing", "0::/\n", nil, 0, false},
		{"a group of another machine's view", "4:memory:/gone\n", nil, 0, false},
		{"a way out of the hierarchy", "4:memory:/../../../etc\n", nil, 0, false},
		{"nonsense", "x\n::\n", nil, 0, false},
		{
			"nonsense as a count", "0::/a\n",
			map[string]string{"a/memory.events": "oom_kill -1\noom_kill 99999999999999999999\n"},
			0, false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			procfs, groups := t.TempDir(), t.TempDir()
			files := map[string]string{filepath.Join(procfs, "7", "cgroup"): tt.group}
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
			kills, known := FS(procfs).OOMCounter(7, groups).Kills()
			if kills != tt.kills || known != tt.known {
				t.Errorf("kills = %d, %v, want %d, %v", kills, known, tt.kills, tt.known)
			}
		})
	}

	if counter := FS(t.TempDir()).OOMCounter(7, t.TempDir()); counter != "" {
		t.Errorf("counter of a process that is gone = %q", counter)
	}
}
