package chaos

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/results"
)

// ordeal is something that happens to bench itself.
type ordeal struct {
	kind, name, want string
	run              func(*world)
}

func ordeals() []ordeal {
	var all []ordeal
	for _, some := range [][]ordeal{interruptions(), pauses(), closures(), contentions(), leftovers()} {
		all = append(all, some...)
	}
	return all
}

func TestOrdeals(t *testing.T) {
	t.Parallel()
	for _, o := range ordeals() {
		t.Run(title(o.row()), func(t *testing.T) {
			t.Parallel()
			if !chosen(o.row()) {
				t.SkipNow()
			}
			w := newWorld(t)
			o.run(w)
			w.clean()
			if !t.Failed() {
				printed.add(o.row(), o.want)
			}
		})
	}
}

// night is a scenario of two variants with the same engine.
func (w *world) night(change func(*engine), changes block) string {
	w.t.Helper()
	config := healthy("vllm")
	if change != nil {
		change(&config)
	}
	env := block{"env": block{fakeengine.Variable: config.Value()}}
	return w.scenario(lay(block{"name": "bad"}, env),
		lay(block{"variants": []block{lay(block{"name": "a"}, env), lay(block{"name": "b"}, env)}}, changes))
}

// slowly is an engine whose steps take three seconds.
func slowly(c *engine) { request(fakeengine.FaultSlow)(c) }

// at calls do once bench has come to the event wanted, and a little later.
func (w *world) at(wanted func(results.Event) bool, later time.Duration, do func(*os.Process)) func(*os.Process) {
	return func(p *os.Process) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if _, ok := w.await(ctx, wanted); !ok {
			w.t.Errorf("the run does not come to where it is to be disturbed")
		}
		pause(ctx, later)
		do(p)
	}
}

func sends(signals ...syscall.Signal) func(*os.Process) {
	return func(p *os.Process) {
		for _, s := range signals {
			_ = p.Signal(s)
		}
	}
}

// verdicts are those of a run's steps, in order; measured ones are "ok".
func verdicts(run *results.Run) string {
	var all []string
	for _, s := range run.Steps {
		verdict := s.Result.Verdict
		if measured(verdict) {
			verdict = results.OK
		}
		all = append(all, string(verdict))
	}
	return strings.Join(all, ", ")
}

// expect asserts exit code, verdicts and a whole journal of the only run.
func (w *world) expect(got outcome, code int, want string) {
	w.t.Helper()
	run := w.read()
	if have := verdicts(run); got.code != code || have != want {
		w.t.Errorf("exit code %d, steps %s; want %d, %s\n%s", got.code, have, code, want, got.stderr)
	}
	w.consistent(run)
}

// resumes asserts that the only run can be finished.
func (w *world) resumes() {
	w.t.Helper()
	w.meddlers = nil
	w.expect(w.bench("resume", w.folder()), 0, "ok, ok")
}

// interruptions are Ctrl-C and other signals at every stage.
func interruptions() []ordeal {
	loading := func(c *engine) { c.Loading = 2 * time.Second }
	draining := func(c *engine) { c.Drain = 2 * time.Second }
	interrupted := func(change func(*engine), changes block, moment results.EventKind, later time.Duration,
		signal syscall.Signal, want string,
	) func(*world) {
		return func(w *world) {
			got := w.call(call{args: []string{"run", w.night(change, changes)}, once: w.at(kindOf(moment), later,
				sends(signal))})
			if run := w.read(); verdicts(run) == "not run, not run" {
				want = "not run, not run" // the signal came before the step
			}
			w.expect(got, 130, want)
			if end := w.read().Events; end[len(end)-1].Failure == nil ||
				end[len(end)-1].Failure.Class != results.FailInterrupted {
				w.t.Errorf("the journal does not say that the run was interrupted")
			}
			w.resumes()
		}
	}
	const keeps = "exit code 130, no server is left; resume finishes the run"
	return []ordeal{
		{"crash", "Ctrl-C while a server is launched", keeps, interrupted(loading, nil, results.LifeStarting, 0,
			syscall.SIGINT, "not run, not run")},
		{"crash", "Ctrl-C while a server loads", keeps, interrupted(loading, nil, results.LifeSpawned, time.Second,
			syscall.SIGINT, "not run, not run")},
		{"crash", "Ctrl-C when a server is ready", keeps, interrupted(slowly, nil, results.LifeReady, 0, syscall.SIGINT,
			"failed, not run")},
		{"crash", "Ctrl-C under load", keeps, interrupted(slowly, nil, results.StepStarted, time.Second, syscall.SIGINT,
			"failed, not run")},
		{"crash", "Ctrl-C while a server stops", keeps, interrupted(draining, nil, results.LifeStopping,
			500*time.Millisecond, syscall.SIGINT, "ok, not run")},
		{"crash", "SIGQUIT under load", keeps, interrupted(slowly, nil, results.StepStarted, time.Second,
			syscall.SIGQUIT, "failed, not run")},
		{
			"hang", "Ctrl-C under load of an engine that waits for its clients",
			"streams are closed first, so SIGTERM is enough", func(w *world) {
				waits := func(c *engine) {
					slowly(c)
					c.ClientsFirst = true
				}
				interrupted(waits, nil, results.StepStarted, time.Second, syscall.SIGINT, "failed, not run")(w)
				for _, e := range w.read().Events {
					if e.Proof != nil && slices.Contains(e.Proof.Signals, "KILL") {
						w.t.Errorf("the server of %s needed %q", e.Life, e.Proof.Signals)
					}
				}
			},
		},
		{"crash", "SIGTERM under load", keeps, interrupted(slowly, nil, results.StepStarted, time.Second,
			syscall.SIGTERM, "failed, not run")},
		{
			"hang", "Ctrl-C twice while a server drains",
			"SIGKILL at once instead of after the grace period of a minute; exit code 130",
			func(w *world) {
				night := w.night(func(c *engine) { c.Drain = time.Minute },
					block{"server": block{"stop": block{"grace": "60s"}}})
				got := w.call(call{args: []string{"run", night}, once: w.at(kindOf(results.LifeStopping),
					200*time.Millisecond, func(p *os.Process) {
						_ = p.Signal(syscall.SIGINT)
						time.Sleep(300 * time.Millisecond)
						_ = p.Signal(syscall.SIGINT)
					})})
				w.expect(got, 130, "ok, not run")
				if limit := 30 * time.Second; got.took > limit {
					w.t.Errorf("it took %v, want less than %v", got.took, limit)
				}
			},
		},
		{"crash", "SIGHUP under load", "the run continues; exit code 0", func(w *world) {
			got := w.call(call{args: []string{"run", w.night(slowly, nil)}, once: w.at(kindOf(results.StepStarted),
				500*time.Millisecond, sends(syscall.SIGHUP, syscall.SIGHUP))})
			w.expect(got, 0, "ok, ok")
		}},
		{
			"slow", "bench is stopped for three seconds (SIGSTOP)",
			"the run continues; the interrupted step is suspect",
			func(w *world) {
				got := w.call(call{args: []string{"run", w.night(slowly, nil)}, once: w.at(kindOf(results.StepStarted),
					time.Second, func(p *os.Process) {
						_ = p.Signal(syscall.SIGSTOP)
						time.Sleep(3 * time.Second)
						_ = p.Signal(syscall.SIGCONT)
					})})
				w.expect(got, 0, "ok, ok")
				if first := w.read().Steps[0].Result; first.Verdict != suspect {
					w.t.Errorf("the step is %s, want it suspect", story(first))
				}
			},
		},
	}
}

// pauses stop bench for a while, as a closed lid, a paused virtual machine or a
// frozen control group does.
func pauses() []ordeal {
	return []ordeal{
		{
			"slow", "bench and a loading server are stopped (SIGSTOP) for longer than ready.timeout",
			"no ready-timeout; a warning on the step", func(w *world) {
				limit := 20 * time.Second
				night := w.night(func(c *engine) { c.Loading = 2 * time.Second },
					block{"server": block{"ready": block{"timeout": limit.String(), "stall": (limit / 2).String()}}})
				got := w.call(call{args: []string{"run", night}, once: w.at(kindOf(results.LifeSpawned),
					500*time.Millisecond, func(p *os.Process) {
						w.freeze(p, limit+2*time.Second)
					})})
				w.expect(got, 0, "ok, ok")
				w.warned(results.WarnPausedStart)
			},
		},
		{
			"slow",
			"bench and its server under load are stopped (SIGSTOP) for longer than watchdog.stall and deadlines.step",
			"neither ends the step; it is suspect", func(w *world) {
				limit := 20 * time.Second
				night := w.night(slowly, block{
					"watchdog":  block{"stall": limit.String()},
					"deadlines": block{"step": limit.String()},
				})
				got := w.call(call{args: []string{"run", night}, once: w.at(kindOf(results.StepStarted), time.Second,
					func(p *os.Process) {
						w.freeze(p, limit+2*time.Second)
					})})
				w.expect(got, 0, "ok, ok")
				w.warned(results.WarnPaused)
			},
		},
	}
}

// freeze stops bench and the servers that it has started so far for a while.
func (w *world) freeze(p *os.Process, d time.Duration) {
	stopped := []int{p.Pid}
	for _, e := range w.events() {
		if e.Kind == results.LifeSpawned && e.Process != nil {
			stopped = append(stopped, e.Process.PID)
		}
	}
	for _, pid := range stopped {
		_ = syscall.Kill(pid, syscall.SIGSTOP)
	}
	time.Sleep(d)
	for _, pid := range stopped {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
}

// warned asserts a warning of the first step.
func (w *world) warned(code results.WarningCode) {
	w.t.Helper()
	first := w.read().Steps[0].Result
	if !slices.ContainsFunc(first.Warnings, func(warning results.Warning) bool { return warning.Code == code }) {
		w.t.Errorf("the first step is %s with the warnings %v, want %s among them", story(first), first.Warnings, code)
	}
}

// closures take away what bench writes to.
func closures() []ordeal {
	return []ordeal{
		{
			"crash", "stdout is closed (EPIPE)", "all steps are measured; the folder is complete, with its report",
			func(w *world) {
				w.call(call{args: []string{"run", w.night(nil, nil)}, stdout: w.deadPipe()})
				w.expect(outcome{}, 0, "ok, ok")
				if _, err := os.Stat(filepath.Join(w.folder(), "report.md")); err != nil {
					w.t.Errorf("no report in the folder: %v", err)
				}
			},
		},
		{"crash", "stderr is closed (EPIPE)", "all steps are measured; exit code 0", func(w *world) {
			w.expect(w.call(call{args: []string{"run", w.night(nil, nil)}, stderr: w.deadPipe()}), 0, "ok, ok")
		}},
		{
			"crash", "the folder of the steps becomes read-only",
			"the run ends as if the disk were full, exit code 3; resume finishes it", func(w *world) {
				got := w.call(call{args: []string{"run", w.night(slowly, nil)}, once: w.at(kindOf(results.StepStarted),
					time.Second, func(*os.Process) {
						steps := filepath.Join(w.folder(), "steps")
						if err := os.Rename(steps, steps+".away"); err != nil {
							w.t.Error(err)
						}
						if err := os.WriteFile(steps, nil, 0o600); err != nil {
							w.t.Error(err)
						}
					})})
				steps := filepath.Join(w.folder(), "steps")
				_ = os.Remove(steps)
				if err := os.Rename(steps+".away", steps); err != nil {
					w.t.Fatal(err)
				}
				if got.code != 3 || !strings.Contains(got.stderr, "steps") {
					w.t.Errorf("exit code %d, want 3 and what cannot be written\n%s", got.code, got.stderr)
				}
				w.clean()
				w.resumes()
			},
		},
		{
			"crash", "a result exceeds the largest file size (ulimit -f)",
			"the run ends as if the disk were full, exit code 3, and names the limit; resume finishes it", func(w *world) {
				w.wrapper = []string{"prlimit", "--fsize=20480"} // above plan and journal, below a result
				got := w.bench("run", w.night(nil, nil))
				if got.code != 3 || !strings.Contains(got.stderr, "ulimit -f") {
					w.t.Errorf("exit code %d, want 3 and the limit's name\n%s", got.code, got.stderr)
				}
				w.wrapper = nil
				w.resumes()
			},
		},
		{"crash", "the state folder of the machine cannot be made", "nothing is started; exit code 1", func(w *world) {
			w.setenv("BENCH_STATE_DIR", w.write("state-is-a-file", nil))
			got := w.bench("run", w.night(nil, nil))
			if got.code != 1 || !strings.Contains(got.stderr, "BENCH_STATE_DIR") || len(w.folders()) > 0 {
				w.t.Errorf("exit code %d, want 1, a way out, and no run\n%s", got.code, got.stderr)
			}
		}},
		{
			"lie", "the journal's last line was cut in the middle",
			"resume keeps the line as damaged and finishes the run", func(w *world) {
				w.killed(w.night(slowly, nil), kindOf(results.StepStarted), time.Second)
				journal := filepath.Join(w.folder(), results.JournalName)
				file, err := os.OpenFile(journal, os.O_APPEND|os.O_WRONLY, 0)
				if err != nil {
					w.t.Fatal(err)
				}
				fmt.Fprint(file, `{"seq":99,"time":"2026-`)
				file.Close()
				got := w.bench("resume", w.folder())
				run := w.read()
				if have := verdicts(run); got.code != 0 || have != "ok, ok" || !run.Finished || len(run.Problems) != 1 {
					w.t.Errorf("exit code %d, steps %s, problems %q, want 0, ok, ok, and one problem\n%s",
						got.code, have,
						run.Problems, got.stderr)
				}
			},
		},
	}
}

// deadPipe is a pipe that nobody reads.
func (w *world) deadPipe() *os.File {
	w.t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}
	reader.Close()
	w.t.Cleanup(func() { writer.Close() })
	return writer
}

// killed runs a night and kills bench with SIGKILL.
func (w *world) killed(night string, wanted func(results.Event) bool, later time.Duration) {
	w.t.Helper()
	if got := w.call(call{args: []string{"run", night}, once: w.at(wanted, later,
		sends(syscall.SIGKILL))}); got.code != -1 {
		w.t.Errorf("bench run ended with code %d before it was killed\n%s", got.code, got.stderr)
	}
}
