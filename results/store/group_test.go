package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/benchrig/bench/results"
)

// A job reads its own group alone: damage and size of all else are nothing to it.
func TestReadGroup(t *testing.T) {
	folder := jobsRun(t)
	own, other := part(t, folder, "g001"), part(t, folder, "g002")
	tell(t, own, results.Event{Kind: results.RunStarted})
	if err := own.WriteResult(resultOf("a_c1_r1", 1)); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(folder.StepDir("b_c1_r1"), results.ResultName)
	err := errors.Join(
		os.MkdirAll(filepath.Dir(broken), 0o750), os.WriteFile(broken, []byte("{"), 0o600),
		os.WriteFile(other.Journal(), []byte("{\n"), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}

	run, err := ReadGroup(folder.Dir(), func(m *results.Manifest) (results.Group, error) { return m.Groups[0], nil })
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Steps) != 1 || run.Steps[0].Result.Step.ID != "a_c1_r1" || len(run.Parts) != 1 || len(run.Problems) > 0 {
		t.Errorf("ReadGroup: steps %v, parts %v, problems %q, want the group alone", run.Steps, run.Parts, run.Problems)
	}

	none := errors.New("no such group")
	if _, err := ReadGroup(folder.Dir(), func(*results.Manifest) (results.Group, error) {
		return results.Group{}, none
	}); !errors.Is(err, none) {
		t.Errorf("ReadGroup of a group that is not there: %v", err)
	}
}
