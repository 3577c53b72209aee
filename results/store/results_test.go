package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/benchrig/bench/results"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func mustFolder(t *testing.T) *Folder {
	t.Helper()
	f, err := Create(t.TempDir(), "quickstart", "20260101-000000")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestCreateMakesTheLayout(t *testing.T) {
	root := t.TempDir()
	f, err := Create(root, "quickstart", "r1")
	if err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(root, "quickstart", "r1")
	paths := map[string]string{
		f.Dir():           want,
		f.Scenario():      want + "/scenario.yaml",
		f.Plan():          want + "/plan.json",
		f.Environment():   want + "/environment.json",
		f.Journal():       want + "/journal.jsonl",
		f.Manifest():      want + "/manifest.json",
		f.StepDir("a-c1"): want + "/steps/a-c1",
		f.LifeDir("a-1"):  want + "/lives/a-1",
	}
	for got, want := range paths {
		if got != want {
			t.Errorf("path = %q, want %q", got, want)
		}
	}
	for _, dir := range []string{"steps", "lives"} {
		if info, err := os.Stat(filepath.Join(want, dir)); err != nil || !info.IsDir() {
			t.Errorf("Create made no folder %s: %v", dir, err)
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	root := t.TempDir()
	if _, err := Create(root, "s", "taken"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, scenario, run, want string }{
		{"existing", "s", "taken", "exists already"},
		{"parent as run", "s", "..", `".." cannot be a folder name`},
		{"path as scenario", "a/b", "r", `"a/b" cannot be a folder name`},
		{"no run id", "s", "", `"" cannot be a folder name`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Create(root, tt.scenario, tt.run)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Create(%q, %q) error = %v, want one with %q", tt.scenario, tt.run, err, tt.want)
			}
		})
	}
}

func TestOpenSaysWhatIsMissing(t *testing.T) {
	f := mustFolder(t)
	if _, err := Open(f.Dir()); err == nil || !strings.Contains(err.Error(), "it has no manifest.json") {
		t.Errorf("Open(folder without manifest) error = %v, want it to name manifest.json", err)
	}
	if err := f.WriteManifest(results.Manifest{Run: "r"}); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(f.Dir()); err != nil {
		t.Errorf("Open(run folder) error = %v, want none", err)
	}
	_, err := Open(filepath.Dir(f.Dir()))
	if err == nil || !strings.Contains(err.Error(), "contains 1 run but") || !strings.Contains(err.Error(), f.Dir()) {
		t.Errorf("Open(scenario folder) error = %v, want it to name the run", err)
	}
	if _, err := Open(f.Manifest()); err == nil || !strings.Contains(err.Error(), "is a file") {
		t.Errorf("Open(file) error = %v, want it to say so", err)
	}
	if _, err := Open(filepath.Join(f.Dir(), "nowhere")); err == nil {
		t.Error("Open(missing folder) gave no error")
	}
}

func TestWriteFileReplacesWholeFiles(t *testing.T) {
	f := mustFolder(t)
	for _, text := range []string{"first", "second, longer", ""} {
		if err := f.WriteFile("steps/a/command.txt", []byte(text)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(f.StepDir("a"), "command.txt"))
		if err != nil || string(got) != text {
			t.Errorf("after WriteFile(%q) the file holds %q (%v)", text, got, err)
		}
	}
	left, err := os.ReadDir(f.StepDir("a"))
	if err != nil || len(left) != 1 {
		t.Errorf("folder holds %v (%v), want only command.txt", left, err)
	}
	for _, name := range []string{"../x", "/etc/x", ""} {
		if err := f.WriteFile(name, nil); err == nil {
			t.Errorf("WriteFile(%q) gave no error", name)
		}
	}
}

func TestWriteFileLeavesTheOldOneOnError(t *testing.T) {
	f := mustFolder(t)
	if err := os.Mkdir(filepath.Join(f.Dir(), "report.md"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := f.WriteFile("report.md", []byte("x")); err == nil {
		t.Fatal("WriteFile over a folder gave no error")
	}
	names, err := filepath.Glob(filepath.Join(f.Dir(), ".report*"))
	if err != nil || len(names) != 0 {
		t.Errorf("left behind: %v (%v)", names, err)
	}
}

func TestWriteResultAndManifestSetTheFormat(t *testing.T) {
	f := mustFolder(t)
	m := results.Manifest{Run: "r", Planned: []results.StepRef{{ID: "a"}}}
	if err := f.WriteManifest(m); err != nil {
		t.Fatal(err)
	}
	if err := f.WriteResult(&results.Result{Step: results.StepRef{ID: "a"}, Verdict: results.OK}); err != nil {
		t.Fatal(err)
	}
	if err := f.WriteResult(&results.Result{Step: results.StepRef{ID: "../a"}}); err == nil {
		t.Error("WriteResult with a step id outside the folder gave no error")
	}
	run, err := Read(f.Dir())
	if err != nil {
		t.Fatal(err)
	}
	m.Format = results.FormatVersion
	if diff := cmp.Diff(m, run.Manifest); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
	if got := run.Steps[0].Result; got.Format != results.FormatVersion || got.Verdict != results.OK {
		t.Errorf("result = %+v, want format %d and verdict ok", got, results.FormatVersion)
	}
}
