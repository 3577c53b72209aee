package store

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/results"
)

// damaged makes a run of two steps that both have a result, and damages one
// file of it.
func damaged(t *testing.T, damage func(dir string)) *results.Run {
	t.Helper()
	f, err := Create(t.TempDir(), "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	refs := []results.StepRef{
		{ID: "x", Variant: "v", Point: "p", Repeat: 1, Attempt: 1},
		{ID: "y", Variant: "v", Point: "p", Repeat: 2, Attempt: 1},
	}
	for _, ref := range refs {
		if err := f.WriteResult(&results.Result{Step: ref, Verdict: results.OK}); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.WriteJSON(results.EnvironmentName, map[string]string{"bench": "v"}); err != nil {
		t.Fatal(err)
	}
	type life struct {
		Steps []results.StepRef `json:"steps"`
	}
	if err := f.WriteJSON(results.PlanName, map[string][]life{"lives": {{refs[:1]}, {refs[1:]}}}); err != nil {
		t.Fatal(err)
	}
	if err := f.WriteManifest(results.Manifest{Scenario: "a", Run: "b", Planned: refs}); err != nil {
		t.Fatal(err)
	}
	journal, err := f.OpenJournal()
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range refs {
		for _, e := range []results.Event{
			{Kind: results.StepStarted, Step: ref.ID, Attempt: 1},
			{Kind: results.StepFinished, Step: ref.ID, Attempt: 1, Verdict: results.OK},
		} {
			if err := journal.Append(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := journal.Close(); err != nil {
		t.Fatal(err)
	}

	damage(f.Dir())
	run, err := Read(f.Dir())
	if err != nil {
		t.Fatalf("one damaged file hides the rest: %v", err)
	}
	return run
}

func TestDamageHidesNothingElse(t *testing.T) {
	write := func(name, content string) func(string) {
		return func(dir string) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				panic(err)
			}
		}
	}
	pipe := func(name string) func(string) {
		return func(dir string) {
			path := filepath.Join(dir, name)
			_ = os.Remove(path) // it need not be there
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				panic(err)
			}
		}
	}
	link := func(name string) func(string) {
		return func(dir string) {
			path := filepath.Join(dir, name)
			_ = os.Remove(path) // it need not be there
			if err := os.Symlink("/etc/hostname", path); err != nil {
				panic(err)
			}
		}
	}
	tests := []struct {
		name    string
		damage  func(dir string)
		problem string
		again   bool // step x is run again
	}{
		{"an empty result", write("steps/x/result.json", ""), "step x: ", true},
		{"a result that is garbage", write("steps/x/result.json", "\x00\x01garbage"), "step x: ", true},
		{
			"a result that is cut off", write("steps/x/result.json", `{"format_version": 1, "verdict": "o`),
			"step x: ", true,
		},
		{
			"a result of another kind", write("steps/x/result.json", `{"format_version": 1, "verdict": 5}`),
			"step x: ", true,
		},
		{"a pipe in place of a result", pipe("steps/x/result.json"), "not a plain file", true},
		{"a link in place of a result", link("steps/x/result.json"), "symbolic link", true},
		{"an empty environment", write("environment.json", ""), "environment.json: ", false},
		{"a pipe in place of the environment", pipe("environment.json"), "not a plain file", false},
		{"an empty manifest", write("manifest.json", ""), "manifest.json: ", false},
		{"a manifest that is garbage", write("manifest.json", "\x00{"), "manifest.json: ", false},
		{
			"a manifest that is cut off", write("manifest.json", `{"format_version": 1, "planned": [{"id": "x"`),
			"manifest.json: ", false,
		},
		{
			"a manifest of another kind", write("manifest.json", `{"format_version": 1, "planned": 7}`),
			"manifest.json: ", false,
		},
		{"a pipe in place of the manifest", pipe("manifest.json"), "manifest.json: ", false},
		{
			"a manifest with a step many times",
			write("manifest.json", `{"format_version": 1, "planned": [{"id": "y"}, {"id": "x"}`+
				strings.Repeat(`, {"id": "x"}`, 300_000)+"]}"),
			"300000 entries left out, whose step was planned already", false,
		},
		{"a plan that is garbage", write("plan.json", "{"), "plan.json: ", false},
		{"a pipe in place of the plan", pipe("plan.json"), "plan.json: ", false},
		{"a pipe in place of the scenario", pipe("scenario.yaml"), "scenario.yaml: ", false},
		{"a pipe in place of the journal", pipe("journal.jsonl"), "journal.jsonl: ", false},
		{
			"records that are not compressed", write("steps/x/requests.jsonl.zst", "garbage"),
			"requests.jsonl.zst is damaged", false,
		},
		{"empty telemetry", write("steps/x/telemetry.jsonl.zst", ""), "telemetry.jsonl.zst is damaged", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run := damaged(t, tt.damage)
			if !strings.Contains(strings.Join(run.Problems, "\n"), tt.problem) {
				t.Errorf("problems %q, want one with %q", run.Problems, tt.problem)
			}
			x, y := run.Step("x"), run.Step("y")
			if y == nil || y.State != results.StepDone || y.Result.Verdict != results.OK {
				t.Errorf("the other step is %+v, want it as it was", y)
			}
			if again := x.State == results.StepInterrupted && x.Result.Verdict == results.NotRun; again != tt.again {
				t.Errorf("the step is %s, %s; want that it is run again: %v", x.State, x.Result.Verdict, tt.again)
			}
		})
	}
}

// Nothing is written through a link that is in a run folder.
func TestNothingIsWrittenThroughLinks(t *testing.T) {
	for _, name := range []string{results.LockName, results.JournalName} {
		f, err := Create(t.TempDir(), "a", "b")
		if err != nil {
			t.Fatal(err)
		}
		target := filepath.Join(t.TempDir(), "other")
		if err := os.WriteFile(target, []byte("precious\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(f.Dir(), name)); err != nil {
			t.Fatal(err)
		}

		if lock, err := f.Lock(); name == results.LockName && err == nil {
			_ = lock.Release()
			t.Errorf("%s was locked through a link", name)
		}
		if journal, err := f.OpenJournal(); name == results.JournalName && err == nil {
			_ = journal.Close()
			t.Errorf("%s was opened through a link", name)
		}
		if got, _ := os.ReadFile(target); string(got) != "precious\n" {
			t.Errorf("%s: the target of the link holds %q", name, got)
		}
	}
}

// A file that claims to have a terabyte, or is one line without end, is damage like
// any other: reading ends, and the other step stays.
func TestEndlessFiles(t *testing.T) {
	t.Parallel()
	const terabyte = 1 << 40
	for _, name := range []string{
		results.EnvironmentName, results.PlanName, results.ManifestName, results.JournalName, "steps/x/result.json",
	} {
		run := damaged(t, func(dir string) {
			path := filepath.Join(dir, name)
			if err := os.Truncate(path, terabyte); err != nil {
				t.Fatal(err)
			}
			if name == results.JournalName { // which is read line by line
				return
			}
			if _, err := ReadPlain(path); !errors.Is(err, inside.ErrTooLong) {
				t.Errorf("%s: ReadPlain() = %v, want ErrTooLong", name, err)
			}
		})
		if !strings.Contains(strings.Join(run.Problems, "\n"), "far longer than any") {
			t.Errorf("%s: problems are %q", name, run.Problems)
		}
		if step := run.Step("y"); step == nil || step.State != results.StepDone {
			t.Errorf("%s: step y is %+v, want its result", name, step)
		}
	}
}

// What unpacks without end is not read to its end.
func TestCompressedBomb(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), results.RequestsName)
	var packed bytes.Buffer
	z, err := zstd.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(make([]byte, 64<<20)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), os.WriteFile(path+compressedSuffix, packed.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}

	in, err := OpenLines(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	file := in.(*zstdFile)
	if least := maxRatio*int64(packed.Len()) + inside.MaxWhole; file.room < least {
		t.Errorf("room is %d bytes, want at least %d", file.room, least)
	}
	file.room = 1 << 20 // as if the file were shorter
	if n, err := io.Copy(io.Discard, in); !errors.Is(err, errBomb) || n > 1<<20 {
		t.Errorf("read %d bytes, %v, want %v", n, err, errBomb)
	}
}
