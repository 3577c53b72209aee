// Package chaos is the fault suite: bench as a process of its own against
// engines that fail in every way, and bench itself killed at any moment. It
// holds tests only.
package chaos

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/benchrig/bench/internal/fakecontainer"
	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/internal/stranger"
)

// binary is the bench under test, built once.
var binary string

var updateDocs = flag.Bool("update-docs", false, "write docs/chaos.md")

func TestMain(m *testing.M) {
	stranger.Main()
	fakecontainer.Main()
	fakeengine.Main()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "bench-chaos-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "bench")
	build := exec.Command("go", "build", buildFlag(), "-o", binary, "../../cmd/bench")
	build.Env = append(os.Environ(), "CGO_CFLAGS=-O2 -g -Wno-deprecated-declarations")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build bench: %v\n%s", err, out)
		return 1
	}
	// Nearly all of the time is spent in waiting for time limits.
	const atOnce = "6"
	if err := flag.Set("test.parallel", atOnce); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if testing.Verbose() {
		fmt.Print(printed.text())
	}
	return code
}

// whole reports whether the long form was asked for; make chaos does.
func whole() bool { return os.Getenv("BENCH_CHAOS") == "full" }

// buildFlag builds the bench under test with the race detector if these tests
// were, but for the short form, which then would take minutes.
func buildFlag() string {
	if raceDetector && whole() {
		return "-race"
	}
	return "-race=false"
}
