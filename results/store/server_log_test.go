package store

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCloseServerLog(t *testing.T) {
	hide := func(s string) string { return strings.ReplaceAll(s, "sw0rdfish", "***") }
	tests := []struct {
		name  string
		text  string
		limit int64
		want  string
	}{
		{"all of a short log", "a\nb\n", 100, "a\nb\n"},
		{"all where there is no limit", strings.Repeat("line\n", 100), 0, strings.Repeat("line\n", 100)},
		{"secrets are hidden", "key sw0rdfish\nno line end", 100, "key ***\nno line end"},
		{
			"the ends of a long one", "head\n" + strings.Repeat("middle\n", 100) + "tail\n", 28,
			"head\nmiddle\n\n[bench: 686 bytes of this log are left out here]\nmiddle\ntail\n",
		},
		{ // 400 bytes of each end, of which the cut may take 200
			"no part of a secret at a cut", strings.Repeat("a", 395) + "sw0rdfish" + strings.Repeat("b", 900) +
				"sw0rdfish" + strings.Repeat("c", 395), 800,
			strings.Repeat("a", 300) + "\n[bench: 1108 bytes of this log are left out here]\n" +
				strings.Repeat("c", 300),
		},
		{"an empty log", "", 10, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			folder, err := Create(t.TempDir(), "s", "r")
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(folder.LifeDir("01-a"), ServerLogName(0))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			if got := readLog(t, folder); got != tt.text {
				t.Errorf("plain log = %q, want %q", got, tt.text)
			}
			if err := CloseServerLog(path, tt.limit, hide); err != nil {
				t.Fatal(err)
			}
			if got := readLog(t, folder); got != tt.want {
				t.Errorf("closed log = %q, want %q", got, tt.want)
			}
			if left := folder.PlainServerLogs("01-a"); len(left) != 0 {
				t.Errorf("plain logs left: %q", left)
			}
			if lives, err := folder.Lives(); err != nil || len(lives) != 1 || lives[0] != "01-a" {
				t.Errorf("Lives() = %q, %v, want 01-a", lives, err)
			}
		})
	}
}

func readLog(t *testing.T, folder *Folder) string {
	t.Helper()
	in, err := folder.OpenServerLog("01-a", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	text, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
