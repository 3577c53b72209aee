package process

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/results"
)

// As in the program: its main thread forks nothing.
func init() { runtime.LockOSThread() } //nolint:gochecknoinits // the one place that runs on the main thread alone

const stopperVariable = "BENCH_TEST_STOPPER"

// stopped is what a stopper reports.
type stopped struct {
	Proof    results.Proof
	Error    string
	Children int // of the main thread, after the stop
}

// stopperMain starts a process and stops it once its children are up, as the
// only one of its program.
func stopperMain() {
	text, found := os.LookupEnv(stopperVariable)
	if !found {
		return
	}
	_ = os.Unsetenv(stopperVariable)
	var config Config
	if err := json.Unmarshal([]byte(text), &config); err != nil {
		os.Exit(90)
	}
	os.Exit(Main(func() int {
		if err := BecomeSubreaper(); err != nil {
			return 91
		}
		helper := exec.Command("sh", "-c", "sleep 600 & exit 0") // leaves a daemon of a helper's
		if err := helper.Run(); err != nil {
			return 92
		}
		p, err := Start(config)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 93
		}
		if log := awaitLine(config.LogPath, "children are up"); log != "" {
			fmt.Fprintf(os.Stderr, "the server's children are not up; its log: %q\n", log)
			return 95
		}
		helper = exec.Command("sh", "-c", "sleep 600 & exit 0") // younger than the server
		if err := helper.Run(); err != nil {
			return 94
		}
		proof, err := p.Stop(context.Background(), time.Minute)
		told := stopped{Proof: proof, Error: fmt.Sprint(err)}
		children, _ := proc.System.ChildrenOfMainThread()
		told.Children = len(children)
		_ = json.NewEncoder(os.Stdout).Encode(told)
		return 0
	}))
}

// awaitLine returns "" once a file has the line, or after two minutes what it
// has instead.
func awaitLine(path, line string) string {
	var log []byte
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if log, _ = os.ReadFile(path); strings.Contains(string(log), line) {
			return ""
		}
	}

	return string(log) + " (end of log)"
}

// A process that forked twice, left its session and dropped its environment
// before anybody looked is an orphan of the server, and is ended with it; so is
// one that was started in the stop. The daemon of another program that bench ran is
// left alone.
func TestStopEndsOrphans(t *testing.T) {
	t.Parallel()
	daemon := fakeengine.Child{Session: true, Daemon: true, ClearEnv: true, IgnoreTerm: true}
	for name, engine := range map[string]fakeengine.Config{
		"at the start": {Children: []fakeengine.Child{daemon}},
		"in the stop":  {TermChild: &daemon},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			engine.Silent, engine.Lines = true, []string{"children are up"}
			dir := t.TempDir()
			config, err := json.Marshal(Config{
				Argv: []string{os.Args[0], "--port", "0"}, Cookie: "orphans." + rand.Text(), Dir: dir,
				Env:     []string{"PATH=" + os.Getenv("PATH"), engine.Env(), "GORACE=" + fakeengine.PromptExit},
				LogPath: filepath.Join(dir, "log"),
			})
			if err != nil {
				t.Fatal(err)
			}
			program := exec.CommandContext(t.Context(), os.Args[0])
			program.Env = append(os.Environ(), stopperVariable+"="+string(config))
			program.Dir, program.Stderr = dir, os.Stderr
			out, err := program.Output()
			left := inFolder(dir)
			for _, pid := range left {
				end(pid)
			}
			var told stopped
			if err != nil || json.Unmarshal(out, &told) != nil {
				t.Fatalf("the program said %q, %v", out, err)
			}
			if told.Error != "<nil>" || !told.Proof.PIDsGone || told.Proof.LeftBehind < 1 { // its parents may live yet
				t.Errorf("Stop() = %+v, %s, want the orphan ended", told.Proof, told.Error)
			}
			if told.Children != 2 || len(left) != 2 {
				t.Errorf("children %d, processes %v, want the two daemons of helpers alone", told.Children, left)
			}
		})
	}
}

// inFolder are the living processes that work in a folder.
func inFolder(dir string) []int {
	pids, _ := proc.System.PIDs()
	var found []int
	for _, pid := range pids {
		cwd, _ := os.Readlink(proc.System.File(pid, "cwd"))
		if _, lives := proc.System.StartTime(pid); lives && cwd == dir {
			found = append(found, pid)
		}
	}

	return found
}

func end(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

// In a pid namespace with the /proc of another, every pid is a stranger's.
func TestForeignProc(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	log := filepath.Join(t.TempDir(), "log")
	config, err := json.Marshal(Config{Argv: []string{"sleep", "60"}, Env: os.Environ(), LogPath: log})
	if err != nil {
		t.Fatal(err)
	}
	program := exec.CommandContext(t.Context(), "unshare", "-p", "-f", os.Args[0])
	program.Env = append(os.Environ(), stopperVariable+"="+string(config))
	out, err := program.CombinedOutput()
	if !strings.Contains(string(out), "another pid namespace") || program.ProcessState.ExitCode() != 93 {
		t.Errorf("start with another namespace's /proc: %q, %v, want a refusal", out, err)
	}
}
