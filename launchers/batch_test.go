package launchers

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/executable"
	"github.com/benchrig/bench/launchers/cleanup"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/launchers/vram"
	"github.com/benchrig/bench/results"
)

// toolBench is one test's launcher for a program that is a shell script.
func toolBench(t *testing.T, script string) (*bench, *journal) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "program")
	if err := executable.Write(path, "#!/bin/sh\n"+script); err != nil {
		t.Fatal(err)
	}
	j := &journal{}
	program, _ := engines.MeasuringProgram(results.MethodLlamaBench)
	return &bench{
		Launcher: &Launcher{Journal: j.write, Environ: os.Environ()}, journal: j,
		kind: program.Kind([]string{"m.gguf"}),
		spec: recipe.Spec{
			Binary: []string{path}, Dir: dir, LogPath: filepath.Join(dir, "server-0.log"), Life: "01-a",
			Cookie: "run",
		},
	}, j
}

func await(t *testing.T, tool *BatchProcess, limit time.Duration) {
	t.Helper()
	select {
	case <-tool.Done():
	case <-time.After(limit):
		_, _ = tool.Stop(t.Context())
		t.Fatalf("the program has not ended after %s", limit)
	}
}

func TestToolRunsToItsEnd(t *testing.T) {
	t.Parallel()
	b, j := toolBench(t, `echo "$@"; echo to stderr >&2; (sleep 60 &) ; exit 0`)
	tool, err := b.Start(t.Context(), b.kind, b.spec)
	if err != nil {
		t.Fatal(err)
	}
	await(t, tool, patience)
	if failure := tool.Failure(); failure != nil {
		t.Errorf("failure = %v, want none", failure)
	}
	proof, err := tool.Stop(t.Context())
	if err != nil || !proof.Clean() || proof.ExitCode == nil || *proof.ExitCode != 0 || proof.LeftBehind != 1 {
		t.Errorf("proof = %+v, %v, want a clean one with exit code 0 and one child that was left", proof, err)
	}
	if got, want := j.kinds(), "starting spawned stopping stopped"; got != want {
		t.Errorf("journal = %s, want %s", got, want)
	}
	text, _ := os.ReadFile(b.spec.LogPath)
	if got := string(text); !strings.Contains(got, "-m m.gguf -o jsonl\n") || !strings.Contains(got, "to stderr\n") {
		t.Errorf("log = %q, want both outputs", got)
	}
	if info := tool.Info(); info.Launcher != "llama-bench" || info.PID == 0 || info.BaseURL != "" {
		t.Errorf("info = %+v", info)
	}
	if left := cleanup.OpenLives(j.events); len(left) != 0 {
		t.Errorf("the journal leaves %v open", left)
	}
}

func TestToolFailures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, script string
		stall        time.Duration
		want         results.FailureClass
		says         string
		code         *int
	}{
		{
			name:   "a flag that it does not know",
			script: "echo 'error: invalid parameter for argument: -x' >&2; echo usage:; exit 1",
			want:   results.FailBadFlag, says: `llama-bench log says "error: invalid parameter for argument: -x"`,
			code: new(1),
		},
		{
			name: "a file that is not a model", script: "echo \"main: error: failed to load model 'm.gguf'\"; exit 1",
			want: results.FailModel, says: "failed to load model", code: new(1),
		},
		{
			name: "without a reason", script: "echo bye; exit 7", want: results.FailExited,
			says: `llama-bench exited with code 7`, code: new(7),
		},
		{name: "a signal", script: "kill -SEGV $$", want: results.FailExited, says: "signal 11", code: new(139)},
		{
			name: "a stall", script: "echo begun; exec sleep 100", stall: time.Second, want: results.FailNoProgress,
			says: "no sign of life for 1s",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, j := toolBench(t, tt.script)
			b.spec.Ready.Stall = tt.stall
			tool, err := b.Start(t.Context(), b.kind, b.spec)
			if err != nil {
				t.Fatal(err)
			}
			await(t, tool, patience)
			failure := tool.Failure()
			if failure == nil || failure.Class != tt.want || !strings.Contains(failure.Message, tt.says) {
				t.Fatalf("failure = %v, want %s with %q", failure, tt.want, tt.says)
			}
			if tt.code != nil && (failure.ExitCode == nil || *failure.ExitCode != *tt.code) {
				t.Errorf("exit code = %v, want %d", failure.ExitCode, *tt.code)
			}
			if proof, err := tool.Stop(t.Context()); err != nil || !proof.Clean() {
				t.Errorf("proof = %+v, %v, want a clean one", proof, err)
			}
			if got, want := j.kinds(), "starting spawned failed stopping stopped"; got != want {
				t.Errorf("journal = %s, want %s", got, want)
			}
		})
	}
}

func TestToolThatWorksDoesNotStall(t *testing.T) {
	t.Parallel()
	b, _ := toolBench(t, "i=0; while [ $i -lt 12 ]; do i=$((i+1)); echo $i; sleep 0.2; done")
	b.spec.Ready.Stall = time.Second
	tool, err := b.Start(t.Context(), b.kind, b.spec)
	if err != nil {
		t.Fatal(err)
	}
	await(t, tool, patience)
	if failure := tool.Failure(); failure != nil {
		t.Errorf("failure = %v, want none", failure)
	}
	if _, err := tool.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestToolIsStopped(t *testing.T) {
	t.Parallel()
	b, j := toolBench(t, "sleep 100 & sleep 100")
	tool, err := b.Start(t.Context(), b.kind, b.spec)
	if err != nil {
		t.Fatal(err)
	}
	if pids := tool.OwnPIDs(); len(pids) == 0 {
		t.Error("it has no processes while it runs")
	}
	proof, err := tool.Stop(t.Context())
	if err != nil || !proof.Clean() {
		t.Errorf("proof = %+v, %v, want a clean one", proof, err)
	}
	await(t, tool, patience)
	if failure := tool.Failure(); failure != nil {
		t.Errorf("failure = %v of a program that was asked to end, want none", failure)
	}
	if got, want := j.kinds(), "starting spawned stopping stopped"; got != want {
		t.Errorf("journal = %s, want %s", got, want)
	}
}

func TestToolThatCannotStart(t *testing.T) {
	t.Parallel()
	b, j := toolBench(t, "exit 0")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name   string
		ctx    context.Context
		change func(*recipe.Spec)
		want   results.FailureClass
	}{
		{"no such program", t.Context(), func(s *recipe.Spec) { s.Binary = []string{"./nope"} }, results.FailNotFound},
		{"a container", t.Context(), func(s *recipe.Spec) { s.Container.Image = "x" }, results.FailBadRecipe},
		{
			"a flag of bench", t.Context(), func(s *recipe.Spec) { s.Args = []recipe.Arg{{Name: "o", Value: "md"}} },
			results.FailBadRecipe,
		},
		{"interrupted before", ended, func(*recipe.Spec) {}, results.FailInterrupted},
	}
	for _, tt := range tests {
		spec := b.spec
		tt.change(&spec)
		_, err := b.Start(tt.ctx, b.kind, spec)
		failure, ok := errors.AsType[*results.Failure](err)
		if !ok || failure.Class != tt.want {
			t.Errorf("%s: Start = %v, want %s", tt.name, err, tt.want)
		}
	}
	if left := cleanup.OpenLives(j.events); len(left) != 0 {
		t.Errorf("the journal leaves %v open", left)
	}
}

// A program's memory of GPUs must be back as a server's must.
func TestToolMemoryIsProvenBack(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		back time.Duration // after the program has taken it
		want results.FailureClass
	}{
		{"back in time", 2 * time.Second, ""},
		{"never back", time.Hour, results.FailNoProof},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, j := toolBench(t, "sleep 0.5")
			var taken atomic.Int64 // when, in nanoseconds since 1970; 0: not yet
			memory := fakeMemory{used: func() int64 {
				if at := taken.Load(); at != 0 && time.Since(time.Unix(0, at)) < tt.back {
					return 80 * giga
				}
				return giga
			}}
			b.GPUs = memory
			b.spec.Devices, b.spec.VRAM = []string{"gpu-0"}, vram.Policy{Timeout: 6 * time.Second}
			tool, err := b.Start(t.Context(), b.kind, b.spec)
			if err != nil {
				t.Fatal(err)
			}
			taken.Store(time.Now().UnixNano())
			await(t, tool, patience)
			proof, err := tool.Stop(t.Context())
			failure, _ := errors.AsType[*results.Failure](err)
			if (failure == nil) != (tt.want == "") || failure != nil && failure.Class != tt.want {
				t.Errorf("Stop = %v, want %q", err, tt.want)
			}
			if len(proof.VRAM) != 1 || proof.VRAM[0].Freed != (tt.want == "") || proof.VRAM[0].BaselineBytes != giga {
				t.Errorf("proof of memory = %+v", proof.VRAM)
			}
			if open := len(cleanup.OpenLives(j.events)); (open == 0) != (tt.want == "") {
				t.Errorf("%d lives are open, want one only if its memory is not back", open)
			}
		})
	}
}
