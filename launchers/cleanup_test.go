package launchers

import (
	"crypto/rand"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/launchers/cleanup"
	"github.com/benchrig/bench/launchers/process"
	"github.com/benchrig/bench/results"
)

// What the journal of a launched server says is enough to find and end it,
// its children included, and nothing that looks alike.
func TestCleanerEndsWhatTheJournalTells(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{
		IgnoreTerm: true, Children: []fakeengine.Child{
			{Session: true, Daemon: true, IgnoreTerm: true},
			{Session: true},
		},
	})
	server := b.launch(t)
	bystander := exec.Command(os.Args[0], server.Info().Argv[1:]...)
	bystander.Env = []string{fakeengine.Config{Silent: true}.Env(), process.CookieVariable + "=" + rand.Text()}
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bystander.Process.Kill(); _ = bystander.Wait() })
	pids := server.OwnPIDs()
	if len(pids) != 3 {
		t.Errorf("OwnPIDs() = %v, want engine and two children", pids)
	}
	lives := cleanup.OpenLives(b.journal.events)
	if len(lives) != 1 || lives[0].Life != "life-1" || lives[0].Replica != 2 {
		t.Fatalf("OpenLives() = %+v, want the server", lives)
	}
	if noted := lives[0].Process; noted.GraceS != 5 || noted.OrphanGraceS != 20 {
		t.Errorf("OpenLives() = graces of %v and %v s, want the scenario's 5 and vLLM's 20", noted.GraceS,
			noted.OrphanGraceS)
	}
	cleaner := cleanup.Cleaner{Grace: 200 * time.Millisecond}
	left, err := cleaner.Find(t.Context(), lives[0])
	if err != nil || len(left.Processes()) != 3 || left.Empty() || left.Rebooted() {
		t.Fatalf("Find() = %v, %v, want 3 processes", left.Processes(), err)
	}
	proof, err := cleaner.End(t.Context(), left)
	if err != nil || !proof.Clean() {
		t.Errorf("End() = %+v, %v, want a clean proof", proof, err)
	}
	told := left.Stopped(proof, err)
	if told.Kind != results.LifeStopped || told.Life != "life-1" || told.Replica != 2 || told.Failure != nil ||
		!strings.Contains(told.Message, "3 processes") {
		t.Errorf("Stopped() = %+v, want the life's end with 3 processes", told)
	}
	if open := cleanup.OpenLives(append(b.journal.events, told)); len(open) != 0 {
		t.Errorf("OpenLives() after it was told = %+v, want none", open)
	}
	if _, lives := proc.System.StartTime(bystander.Process.Pid); !lives {
		t.Error("the bystander was ended")
	}
	if run, err := cleaner.FindRun(b.spec.Cookie); err != nil || !run.Empty() {
		t.Errorf("FindRun() = %v, %v, want nothing", run.Processes(), err)
	}
}
