package hooks

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/scenarios"
)

func sh(script string) scenarios.Hook {
	return scenarios.Hook{Name: "h", Command: []string{"/bin/sh", "-c", script}, Timeout: 20 * time.Second}
}

func newRunner(t *testing.T) *Runner {
	t.Helper()
	return &Runner{Environ: []string{
		"PATH=" + os.Getenv("PATH"), "INHERITED=yes", "BENCH_COOKIE=another",
		"BENCH_STEP=outer",
	}, Dir: t.TempDir()}
}

func TestRunCommand(t *testing.T) {
	for _, tc := range []struct {
		name, script string
		ok           bool
		message      string
	}{
		{"quiet", "true", true, ""},
		{"talks", "echo one; echo two >&2", true, "one\ntwo"},
		{"fails", "echo no such profile >&2; exit 3", false, "exit status 3: no such profile"},
		{"killed by a signal", "kill -9 $$", false, "exit status 137"},
		{
			"variables", `echo "$INHERITED $BENCH_STEP $BENCH_VARIANT"; test "$BENCH_COOKIE" != another`, true,
			"yes s1 a b",
		},
		{"stdin is empty", "cat; echo end", true, "end"},
		{
			"only the last lines", "i=0; while [ $i -lt 50 ]; do i=$((i+1)); echo line $i; done", true,
			"line 46\nline 47\nline 48\nline 49\nline 50",
		},
		{"colours and carriage returns", `printf '\033[31mred\033[0m\rnext\tword\n'`, true, "red\nnext word"},
		{"secret", "echo password is hunter22", true, "password is ***"},
		{"no line end", "printf abc", true, "abc"},
	} {
		r := newRunner(t)
		r.Redact = func(s string) string { return strings.ReplaceAll(s, "hunter22", "***") }
		got := r.Run(t.Context(), sh(tc.script), map[string]string{"BENCH_STEP": "s1", "BENCH_VARIANT": "a b"})
		if got.OK != tc.ok || got.Message != tc.message || got.Name != "h" || got.TookS <= 0 {
			t.Errorf("%s: Run(%s) = %+v, want ok %t and %q", tc.name, tc.script, got, tc.ok, tc.message)
		}
	}
}

func TestRunCommandThatIsNotThere(t *testing.T) {
	got := newRunner(t).Run(t.Context(), scenarios.Hook{Command: []string{"no-such-tool"}, Timeout: time.Second}, nil)
	if got.OK || !strings.Contains(got.Message, "no-such-tool") {
		t.Errorf("Run(no-such-tool) = %+v, want a failure that names it", got)
	}
}

func TestRunsInTheScenariosFolder(t *testing.T) {
	r := newRunner(t)
	if got := r.Run(t.Context(), sh("pwd"), nil); got.Message != r.Dir {
		t.Errorf("working directory = %q, want %q", got.Message, r.Dir)
	}
}

func TestFloodIsBounded(t *testing.T) {
	got := newRunner(t).Run(t.Context(), sh("head -c 30000000 /dev/zero | tr '\\0' x; echo; echo last"), nil)
	if !got.OK || !strings.HasSuffix(got.Message, "last") || len(got.Message) > keptBytes {
		t.Errorf("Run(30 MB of output) = ok %t, %d bytes, want the last words alone", got.OK, len(got.Message))
	}
}

// alive reports whether the process whose pid is in a file still runs.
func alive(t *testing.T, file string) bool {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return unix.Kill(pid, 0) == nil
}

func TestNothingOutlivesTheLimit(t *testing.T) {
	for _, tc := range []struct {
		name, script string
		limit        time.Duration
		ok           bool
		want         string
	}{
		{
			"hangs", "echo $$ > pid; echo waiting; sleep 300", 3 * time.Second, false,
			"killed after its time limit of 3s: waiting",
		},
		{
			"ignores SIGTERM", "trap '' TERM; echo $$ > pid; sleep 300; sleep 300", 3 * time.Second, false,
			"killed after its time limit of 3s",
		},
		{
			"child in a session of its own", "setsid sh -c 'echo $$ > pid; exec sleep 300' & sleep 300",
			3 * time.Second, false, "killed after its time limit of 3s",
		},
		{"child left behind", "sleep 300 & echo $! > pid; echo done", 3 * time.Minute, true, "done"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t)
			hook := sh(tc.script)
			hook.Timeout = tc.limit
			began := time.Now()
			got := r.Run(t.Context(), hook, nil)
			if got.OK != tc.ok || got.Message != tc.want {
				t.Errorf("Run() = %+v, want ok %t and %q", got, tc.ok, tc.want)
			}
			if took := time.Since(began); took > 2*time.Minute {
				t.Errorf("took %s", took)
			}
			if alive(t, filepath.Join(r.Dir, "pid")) {
				t.Error("the process still lives")
			}
		})
	}
}

func TestInterrupt(t *testing.T) {
	r := newRunner(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if text, _ := os.ReadFile(filepath.Join(r.Dir, "pid")); strings.HasSuffix(string(text), "\n") {
				cancel()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	got := r.Run(ctx, sh("echo $$ > pid; sleep 300"), nil)
	if got.OK || !strings.Contains(got.Message, "interrupted") || alive(t, filepath.Join(r.Dir, "pid")) {
		t.Errorf("Run(interrupted) = %+v, want it ended", got)
	}
	if got := r.Run(ctx, sh("touch ran"), nil); got.OK {
		t.Errorf("Run after the end of ctx = %+v, want a refusal", got)
	}
	if _, err := os.Stat(filepath.Join(r.Dir, "ran")); err == nil {
		t.Error("a hook ran after the end of ctx")
	}
	undo := scenarios.Hook{Name: "u", Undo: []string{"/bin/sh", "-c", "echo back"}}
	if got := r.Undo(ctx, undo, nil); !got.OK || got.Message != "back" {
		t.Errorf("Undo after the end of ctx = %+v, want it to run", got)
	}
}
