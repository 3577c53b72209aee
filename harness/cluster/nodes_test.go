package cluster

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/harness/slurm"
	"github.com/benchrig/bench/results"
)

// A node is bad after two failures in a row; where nothing works anywhere, no longer
// than one node is to blame.
func TestBadNodes(t *testing.T) {
	for _, c := range []struct {
		name string
		told string // by node: f a quick failure, o a success
		want string
	}{
		{"nothing", "", ""},
		{"one failure", "n1:f n2:o", ""},
		{"two in a row", "n1:ff n2:o", "n1"},
		{"a success between", "n1:fof n2:o", ""},
		{"a success before", "n1:off n2:", "n1"},
		{"the first node to fail", "n1:ff n2:f", "n1"},
		{"the scenario", "n1:ff n2:ff n3:f", ""},
		{"two bad ones of three", "n1:ff n2:ff n3:o", "n1 n2"},
		{"a name that is not a folder", "../n1:ff n2:o", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := t.TempDir()
			at := time.Now().Add(-time.Hour)
			for node := range strings.FieldsSeq(c.told) {
				name, story, _ := strings.Cut(node, ":")
				for i, what := range story {
					file, err := "failed-1-"+string(rune('0'+i)), error(nil)
					if what == 'o' {
						file, err = okName, noteSuccess(run, name)
					} else {
						err = noteFailure(run, name, "1-"+string(rune('0'+i)), "no GPU")
					}
					if err != nil {
						t.Fatal(err)
					}
					at = at.Add(time.Second)
					// nothing where the name was refused
					_ = os.Chtimes(filepath.Join(nodeDir(run, name), file), at, at)
				}
			}

			bad := badNodes(run)
			if got := strings.Join(slices.Sorted(maps.Keys(bad)), " "); got != c.want {
				t.Errorf("badNodes = %v, want %q", bad, c.want)
			}
			for node, why := range bad {
				if !strings.Contains(why, "no GPU") {
					t.Errorf("node %s is bad because %q, want the reason of its jobs", node, why)
				}
			}
		})
	}
}

// A run folder may come from anybody: what is noted of a node goes through no link
// to a file of the user, into no pipe, and out of no folder.
func TestNotesOfNodesStayInTheFolder(t *testing.T) {
	t.Parallel()
	const node = "n1"
	notes := map[string]func(run, node string) error{
		okName:               noteSuccess,
		failedPrefix + "1-0": func(run, node string) error { return noteFailure(run, node, "1-0", "no GPU") },
	}
	places := map[string]func(run, path, victim string) error{
		"link": func(_, path, victim string) error { return os.Symlink(victim, path) },
		"name": func(_, path, victim string) error { return os.Link(victim, path) },
		"pipe": func(_, path, _ string) error { return unix.Mkfifo(path, 0o600) },
		"folder that is a link": func(run, _, victim string) error {
			dir := nodeDir(run, node)
			return errors.Join(os.Remove(dir), os.Symlink(filepath.Dir(victim), dir))
		},
	}
	for what, put := range places {
		for name, write := range notes {
			run, outside := t.TempDir(), t.TempDir()
			victim := filepath.Join(outside, "precious")
			err := errors.Join(
				os.WriteFile(victim, []byte("the user's"), 0o600),
				os.MkdirAll(nodeDir(run, node), 0o700),
				put(run, filepath.Join(nodeDir(run, node), name), victim),
			)
			if err != nil {
				t.Fatal(err)
			}

			_ = write(run, node) // an error, or a file in place of the link

			if text, _ := os.ReadFile(victim); string(text) != "the user's" {
				t.Errorf("%s for %s: the user's file holds %q", what, name, text)
			}
			if entries, _ := os.ReadDir(outside); len(entries) != 1 {
				t.Errorf("%s for %s: files outside: %v", what, name, entries)
			}
		}
	}

	for name, write := range notes {
		run := t.TempDir()
		if err := write(run, ".."); err != nil {
			t.Errorf("%s of a node \"..\": %v", name, err)
		}
		if entries, _ := os.ReadDir(run); len(entries) != 0 {
			t.Errorf("%s of a node \"..\": files %v", name, entries)
		}
	}
}

// Jobs that have left the queue with steps left are noted once, and not those that
// the user took out of it.
func TestLostJobs(t *testing.T) {
	groups := []results.Group{
		{ID: "g001", Steps: []string{"a"}},
		{ID: "g002", Steps: []string{"b"}},
		{ID: "g003", Steps: []string{"c"}},
	}
	step := func(id string, state results.StepState, verdict results.Verdict, f *results.Failure) results.Step {
		return results.Step{State: state, Result: &results.Result{
			Step:    results.StepRef{ID: id},
			Verdict: verdict, Failure: f,
		}}
	}
	run := &results.Run{
		Manifest: results.Manifest{Groups: groups},
		Steps: []results.Step{
			step("a", results.StepDone, results.OK, nil),
			step("b", results.StepDone, results.Failed, results.Failf(results.FailInterrupted, "time")),
			step("c", results.StepPending, results.NotRun, results.Failf(results.FailInterrupted, "not yet")),
		},
		Events: []results.Event{{Kind: results.JobsSubmitted, Jobs: &results.Submission{
			Array:  "7",
			Groups: []string{"g001", "g002", "g003"},
		}}},
	}
	lost := func() string {
		var names []string
		for _, end := range lostJobs(run, map[string]slurm.Job{"g003": {State: "RUNNING"}}) {
			names = append(names, end.Group)
		}
		return strings.Join(names, " ")
	}

	if got := lost(); got != "g002" {
		t.Errorf("lost = %q, want the one that was interrupted and is not queued", got)
	}
	end := lostJobs(run, nil)[0]
	run.Events = append(run.Events, results.Event{Kind: results.JobEnded, Job: &end})
	if got := lost(); got != "" {
		t.Errorf("lost = %q after it was noted", got)
	}
	run.Events = append(run.Events, results.Event{Kind: results.JobsSubmitted, Jobs: &results.Submission{
		Array:  "8",
		Groups: []string{"g002"},
	}})
	if got := lost(); got != "g002" {
		t.Errorf("lost = %q, want the job of the second array", got)
	}
	run.Events = append(run.Events, results.Event{Kind: results.JobsCanceled})
	if got := lost(); got != "" {
		t.Errorf("lost = %q after it was canceled", got)
	}
}
