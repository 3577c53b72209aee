package harness

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRedactLogs(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "server-0.log")
	tests := []struct {
		name, in, want string
		secrets        []string
	}{
		{"a secret in the middle and at the end", "a=hunter22 b\nkey hunter22", "a=*** b\nkey ***", []string{"hunter22"}},
		{"several secrets", "one two\n", "*** ***\n", []string{"one", "two"}},
		{"one is the beginning of another", "hunter22x hunter2\n", "*** ***\n", []string{"hunter2", "hunter22x"}},
		{"none asked for", "hunter22\n", "hunter22\n", nil},
		{"nothing found", "all is well\n", "all is well\n", []string{"hunter22"}},
		{"an empty secret is no secret", "abc\n", "abc\n", []string{""}},
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
			if left, _ := filepath.Glob(filepath.Join(dir, ".redact*")); left != nil {
				t.Errorf("files %q are left", left)
			}
		})
	}
}
