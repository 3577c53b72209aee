package remote

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchrig/bench/internal/executable"
)

// What a host answers that cannot start the agent is said with what to do, and the
// copy is removed there.
func TestAgentThatCannotStart(t *testing.T) {
	for name, c := range map[string]struct {
		code   int
		said   string // by the shell of the host
		copied bool
		want   string
	}{
		"noexec":        {126, "bash: line 1: %s: Permission denied", true, "noexec"},
		"old library":   {1, "%s: version GLIBC_2.34 not found", true, "use a static one"},
		"not installed": {127, "bash: line 1: bench: command not found", false, "--copy-bench copies this one"},
		"not a program": {126, "bash: line 1: bench: Permission denied", false, "cannot be run there"},
		"broke off":     {255, "", false, "the connection broke off"},
		"refused":       {255, "Permission denied (publickey).", false, "Permission denied (publickey)."},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			// it plays the host: the copy is beside it, under its own name
			ssh := fmt.Sprintf(`#!/bin/sh
while [ "$1" != host ]; do shift; done; shift
case "$1" in
rm) echo "$@" >> %[1]s/removed; exit ;;
esac
printf '%[2]s\n' "$1" >&2
exit %[3]d
`, dir, c.said, c.code)
			for program, text := range map[string]string{"ssh": ssh, "scp": "#!/bin/sh\nexit 0\n"} {
				if err := executable.Write(filepath.Join(dir, program), text); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", dir+":"+os.Getenv("PATH"))

			place, err := Host("host", "bench", c.copied)
			if err != nil {
				t.Fatal(err)
			}
			stream, err := place.Dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer stream.Close()
			_, err = stream.Read(make([]byte, 1))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Read() = %v, want %q", err, c.want)
			}
			removed, _ := os.ReadFile(filepath.Join(dir, "removed"))
			if got := strings.HasPrefix(string(removed), "rm -f /tmp/"+CopyPrefix); got != c.copied {
				t.Errorf("removed %q, want the copy: %v", removed, c.copied)
			}
		})
	}
}
