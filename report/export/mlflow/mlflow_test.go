package mlflow

import (
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchrig/bench/internal/goldentest"
)

var update = flag.Bool("update", false, "write testdata anew")

// open is a new store, closed when the test ends, and its folder.
func open(t *testing.T) (*Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mlruns")
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, dir
}

// add adds a run and reports what Add did.
func add(t *testing.T, s *Store, r Run) bool {
	t.Helper()
	added, err := s.Add("night", r)
	if err != nil {
		t.Fatal(err)
	}
	return added
}

// tree is the content of all files below a folder, and its empty folders.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || name == "." {
			return err
		}
		if entry.IsDir() {
			fmt.Fprintf(&b, "== %s/\n", name)
			return nil
		}
		content, err := os.ReadFile(path)
		fmt.Fprintf(&b, "== %s\n%s\n", name, strings.TrimSuffix(string(content), "\n"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(b.String(), filepath.ToSlash(dir), "/exports/mlruns")
}

func sample() Run {
	return Run{
		Of: "20261129-010203-ab12 one-c8-r1", Version: "1", Name: `one "c8" #1`, StartMS: 1764378123000,
		EndMS:   new(int64(1764378129500)),
		Metrics: []Metric{{"output_throughput", 1234.5}, {"p99_ttft_s", 0.0625}, {"n_ttft", 64}},
		Params:  []Pair{{"variant", "one"}, {"max_concurrency", "8"}, {"request_rate", ""}},
		Tags:    []Pair{{"bench.verdict", "ok"}},
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	s, dir := open(t)
	failed := Run{Of: "x", Version: "2", Name: "two c8 #1", Status: Failed, StartMS: 1764378130000}
	for _, r := range []Run{sample(), failed} {
		if !add(t, s, r) {
			t.Errorf("Add(%s) added nothing", r.Name)
		}
	}
	goldentest.Compare(t, "testdata/mlruns.golden", tree(t, dir), *update)
}

// A second export writes nothing, also where MLflow has changed a run since.
func TestAddAgain(t *testing.T) {
	t.Parallel()
	s, dir := open(t)
	add(t, s, sample())
	meta := filepath.Join(dir, experimentID("night"), runID(sample().Of), metaName)
	if err := os.WriteFile(meta, []byte("lifecycle_stage: deleted\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := tree(t, dir)

	again, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	if add(t, again, sample()) {
		t.Error("Add of a run that is there = true")
	}
	if after := tree(t, dir); after != before {
		t.Errorf("the folder was changed:\n%s", after)
	}
}

// A run that was measured again, or not written to its end, is written again.
func TestAddAnew(t *testing.T) {
	t.Parallel()
	s, dir := open(t)
	add(t, s, sample())
	folder := filepath.Join(dir, experimentID("night"), runID(sample().Of))
	stale := filepath.Join(folder, "metrics", "p99_ttft_s")

	newer := sample()
	newer.Version, newer.Metrics = "2", newer.Metrics[:1]
	if !add(t, s, newer) {
		t.Error("Add of a newer version = false")
	}
	if _, err := os.Stat(stale); err == nil {
		t.Error("a metric of the earlier version is left")
	}

	if err := os.Remove(filepath.Join(folder, metaName)); err != nil {
		t.Fatal(err)
	}
	if !add(t, s, newer) {
		t.Error("Add of a run without meta.yaml = false")
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	foreign := filepath.Join(dir, "mlruns")
	file := filepath.Join(dir, "file")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(foreign, "0"), 0o700), os.WriteFile(file, []byte("precious"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		foreign:                          "files that bench export has not written",
		file:                             "not a folder",
		filepath.Join(dir, "no", "such"): "no such file",
	} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%s) = %v, want %q", path, err, want)
		}
	}
	if got := tree(t, foreign); got != "== 0/\n" {
		t.Errorf("the folder of others holds %q", got)
	}
}

// What was deleted in MLflow does not come back, and a link leads to no file outside.
func TestAddRefuses(t *testing.T) {
	t.Parallel()
	s, dir := open(t)
	add(t, s, sample())
	id := experimentID("night")
	outside := t.TempDir()
	for _, err := range []error{
		os.Mkdir(filepath.Join(dir, ".trash"), 0o700),
		os.Rename(filepath.Join(dir, id), filepath.Join(dir, ".trash", id)),
		os.Symlink(outside, filepath.Join(dir, experimentID("linked"))),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	restore := "mlflow experiments restore -x " + id
	if _, err := s.Add("night", sample()); err == nil || !strings.Contains(err.Error(), restore) {
		t.Errorf("Add to a deleted experiment = %v, want %q", err, restore)
	}
	if _, err := s.Add("linked", sample()); err == nil {
		t.Error("Add through a link = nil")
	}
	if got := tree(t, outside); got != "" {
		t.Errorf("written outside: %s", got)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	n := names{}
	for _, tt := range []struct{ in, want string }{
		{"ttft_s", "ttft_s"},
		{"arg.max-num-seqs", "arg.max-num-seqs"},
		{"pp512@llama 8B Q4_0", "pp512_llama 8B Q4_0"},
		{"a/../b", "a_.._b"},
		{"../../etc", "_.._.._etc"},
		{".", "_."},
		{"", "_"},
		{"ü€", "__"},
		{"a+b", "a_b"},
		{"a:b", "a_b_2"},
		{"a\nb", "a_b_3"},
		{long, long[:250]},
		{long + "y", long[:248] + "_2"},
	} {
		if got := n.of(tt.in); got != tt.want {
			t.Errorf("of(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestFilesLeaveOut(t *testing.T) {
	t.Parallel()
	r := Run{
		Metrics: []Metric{{"nan", math.NaN()}, {"inf", math.Inf(1)}, {"zero", 0}},
		Params:  []Pair{{"none", ""}, {"long", strings.Repeat("ä", 7000)}},
	}
	got := map[string]string{}
	for _, f := range r.files() {
		got[f.name] = f.content
	}
	want := map[string]string{
		"metrics/zero": "0 0 0\n", "params/long": strings.Repeat("ä", 6000),
		"tags/mlflow.source.name": "bench", "tags/mlflow.source.type": "LOCAL",
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
	for name, content := range want {
		if got[name] != content {
			t.Errorf("%s = %q, want %q", name, got[name], content)
		}
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "night", "another night"} {
		if id := experimentID(name); len(id) != 18 || id[0] == '0' || strings.Trim(id, "0123456789") != "" {
			t.Errorf("experimentID(%q) = %s, want 18 digits", name, id)
		}
	}
	if experimentID("a") == experimentID("b") || runID("a") == runID("b") || len(runID("a")) != 32 {
		t.Error("two names have one id, or the id of a run has not 32 digits")
	}
}
