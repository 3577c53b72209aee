package container

import (
	"os"
	"path/filepath"
	"testing"
)

// The folder of podman's monitor: a note from before counts for nothing, one that
// comes does, and nothing is left.
func TestMonitorDir(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "server.log")
	dir := Job{LogPath: log}.monitorDir(podman)
	if dir == "" || filepath.Dir(dir) != filepath.Dir(log) {
		t.Fatalf("monitorDir() = %q, want a folder beside the log", dir)
	}
	note := filepath.Join(dir, monitorFile)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(note, nil, 0o600); err != nil {
		t.Fatal(err)
	}

	var cli CLI
	if err := cli.enterMonitorDir(dir); err != nil || cli.dir != dir || killNoted(dir) {
		t.Errorf("enterMonitorDir() = %v in %q, noted %t; want %q and an old note gone", err, cli.dir,
			killNoted(dir), dir)
	}
	if err := os.WriteFile(note, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !killNoted(dir) {
		t.Error("a note of the monitor is not seen")
	}
	removeMonitorDir(dir)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is left: %v", err)
	}
}

// The client is called elsewhere only if its arguments mean the same there.
func TestNoMonitorDir(t *testing.T) {
	t.Parallel()
	const log = "/run/server.log"
	for _, c := range []struct {
		name, engine, log string
		args              []string
		wanted            bool
	}{
		{"podman", podman, log, []string{"--memory", "64m", "--env=A=B", "-v", "/a:/b"}, true},
		{"docker keeps no such note", docker, log, nil, false},
		{"no log", podman, "", nil, false},
		{"a relative log", podman, "server.log", nil, false},
		{"a file of our folder", podman, log, []string{"--env-file", "memory_test.go"}, false},
		{"a file after a sign", podman, log, []string{"--env-file=memory_test.go"}, false},
		{"a folder that is mounted", podman, log, []string{"-v", ".:/here:ro"}, false},
	} {
		job := Job{LogPath: c.log, Options: Options{Args: c.args}}
		if got := job.monitorDir(c.engine); (got != "") != c.wanted {
			t.Errorf("%s: monitorDir() = %q, want one: %t", c.name, got, c.wanted)
		}
	}
}
