package export

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchrig/bench/report/export/mlflow"
	"github.com/benchrig/bench/results"
)

// mlflowRunOf is a run with steps that are good, suspect and simulated, failed, not
// run, and interrupted.
func mlflowRunOf() *results.Run {
	step := func(id string, change func(*results.Step)) results.Step {
		s := results.Step{State: results.StepDone, Result: &results.Result{
			Bench: "1.2.3", Scenario: "night", Run: "20261129-010203-ab12", StartedAt: "2026-11-29T01:02:03Z",
			EndedAt: "2026-11-29T01:03:03.5Z", Verdict: results.OK,
			Step:    results.StepRef{ID: id, Variant: id, Point: "c8", Repeat: 1, Attempt: 1},
			Params:  map[string]string{"seqs": "64"},
			Asked:   results.Asked{Dataset: "random", MaxConcurrency: new(8)},
			Servers: []results.Server{{Launcher: "vllm", Argv: []string{"vllm", "serve", "m", "--max-num-seqs", "64"}}},
			Figures: &results.Figures{Completed: 64, OutputThroughput: new(1234.5)},
		}}
		change(&s)
		return s
	}

	return &results.Run{Manifest: results.Manifest{Scenario: "night"}, Steps: []results.Step{
		step("good", func(*results.Step) {}),
		step("doubtful", func(s *results.Step) {
			s.Result.Verdict, s.Result.Simulated = results.Suspect, true
			s.Result.Warnings = []results.Warning{{Code: "few-slots", Message: "two slots stood empty"}}
		}),
		step("broken", func(s *results.Step) {
			s.Result.Verdict, s.Result.Figures = results.Failed, nil
			s.Result.Failure = results.Failf(results.FailOutOfMemory, "no memory")
		}),
		step("skipped", func(s *results.Step) { s.Result.Verdict = results.NotRun }),
		step("killed", func(s *results.Step) { s.State = results.StepInterrupted }),
	}}
}

func TestToMLflow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mlruns")
	store, err := mlflow.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()

	want := MLflow{Experiment: "night", Added: 3, Unmeasured: 2}
	if got, err := ToMLflow(store, mlflowRunOf()); err != nil || got != want {
		t.Fatalf("ToMLflow = %+v, %v, want %+v", got, err, want)
	}
	want = MLflow{Experiment: "night", Present: 3, Unmeasured: 2}
	if got, err := ToMLflow(store, mlflowRunOf()); err != nil || got != want {
		t.Errorf("ToMLflow again = %+v, %v, want %+v", got, err, want)
	}

	runs := mlflowFiles(t, dir)
	for step, files := range map[string]map[string]string{
		"good": {
			"tags/mlflow.runName": "good c8 #1", "tags/bench.verdict": "ok", "tags/bench.simulated": "false",
			"tags/bench.version": "1.2.3", "tags/mlflow.note.content": "",
			"params/variant": "good", "params/param.seqs": "64", "params/arg.max-num-seqs": "64",
			"params/max_concurrency": "8", "params/request_rate_per_s": "",
			"metrics/completed_requests":             "1795914183500 64 0\n",
			"metrics/output_throughput_tokens_per_s": "1795914183500 1234.5 0\n",
			"metrics/median_ttft_s":                  "", // not known
		},
		"doubtful": {
			"tags/mlflow.runName": "doubtful c8 #1 (SIMULATED, SUSPECT)", "tags/bench.simulated": "true",
			"tags/bench.verdict": "suspect", "tags/bench.warnings": "few-slots",
			"tags/mlflow.note.content": "SIMULATED: these figures come from bench's simulator, not from a server.\n\n" +
				"SUSPECT: the figures are in doubt.\n\nfew-slots: two slots stood empty",
		},
		"broken": {
			"tags/mlflow.runName": "broken c8 #1 (FAILED)", "tags/bench.failure_class": "out-of-memory",
			"metrics/completed_requests": "", "tags/mlflow.note.content": "FAILED: out-of-memory: no memory",
		},
	} {
		for name, want := range files {
			if got := runs[step][name]; got != want {
				t.Errorf("%s: %s = %q, want %q", step, name, got, want)
			}
		}
	}
	for step, status := range map[string]string{"good": "\nstatus: 3\n", "broken": "\nstatus: 4\n"} {
		if meta := runs[step]["meta.yaml"]; !strings.Contains(meta, status) {
			t.Errorf("%s: meta.yaml has no %q:\n%s", step, status, meta)
		}
	}
}

// mlflowFiles are the files of each run of a store, by the step and the name.
func mlflowFiles(t *testing.T, dir string) map[string]map[string]string {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(dir, "*", "*", "meta.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]map[string]string{}
	for _, meta := range folders {
		files := map[string]string{}
		run := os.DirFS(filepath.Dir(meta))
		err := fs.WalkDir(run, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := fs.ReadFile(run, name)
			files[name] = string(content)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		runs[files["tags/bench.step"]] = files
	}
	return runs
}
