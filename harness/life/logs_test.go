package life

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/results/store"
)

func TestRedactLogs(t *testing.T) {
	// characters of patterns are part of a name
	folder, err := store.Create(filepath.Join(t.TempDir(), "x[1]*"), "s", "r")
	if err != nil {
		t.Fatal(err)
	}
	dir := folder.LifeDir("01-a")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, store.ServerLogName(0))
	tests := []struct {
		name, in, want string
		secrets        []string
	}{
		{
			"a secret in the middle and at the end", "a=hunter22 b\nkey hunter22", "a=*** b\nkey ***",
			[]string{"hunter22"},
		},
		{"several secrets", "one two\n", "*** ***\n", []string{"one", "two"}},
		{"one is the beginning of another", "hunter22x hunter2\n", "*** ***\n", []string{"hunter2", "hunter22x"}},
		{"none asked for", "hunter22\n", "hunter22\n", nil},
		{"nothing found", "all is well\n", "all is well\n", []string{"hunter22"}},
		{"an empty secret is not a secret", "abc\n", "abc\n", []string{""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(log, []byte(tt.in), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := redactLogs(dir, tt.secrets); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("log = %q, want %q", got, tt.want)
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
				t.Errorf("files %v are left, %v", entries, err)
			}
		})
	}
}

// A server continues writing to a log whose middle is taken away: head and end
// stay, and the disk that it takes is bounded.
func TestCapLog(t *testing.T) {
	const limit = 256 << 10
	dir := t.TempDir()
	folder, err := store.Create(dir, "s", "r")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder.LifeDir("01-a"), store.ServerLogName(0))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	write := func(text string) {
		if _, err := log.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write("first words\n")
	for i := range 40 {
		write(strings.Repeat("a line of the middle, written by a flood\n", 2000))
		if err := capLog(path, limit); errors.Is(err, unix.EOPNOTSUPP) {
			t.Skip("the file system has no holes")
		} else if err != nil {
			t.Fatalf("capLog, round %d: %v", i, err)
		}
	}
	write("last words\n")
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		t.Fatal(err)
	}
	if taken := stat.Blocks * 512; taken > 2*limit {
		t.Errorf("the log takes %d bytes of %d, want about %d", taken, stat.Size, limit)
	}
	if err := CloseLogs(folder, "01-a", limit, nil); err != nil {
		t.Fatal(err)
	}
	in, err := folder.OpenServerLog("01-a", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	text, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(text, []byte("first words\n")) || !bytes.HasSuffix(text, []byte("flood\nlast words\n")) {
		t.Errorf("the closed log has lost its head or end: %.40q ... %.40q", text, text[max(0, len(text)-40):])
	}
	if bytes.IndexByte(text, 0) >= 0 {
		t.Error("the closed log has a hole in it")
	}
	if !bytes.Contains(text, []byte("bytes of this log are left out here")) {
		t.Error("the closed log does not say that something is left out")
	}
}
