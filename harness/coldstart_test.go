package harness

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// coldScenario starts vLLM with a model of this machine.
func coldScenario(t *testing.T, run scenarios.ColdStartRun) *scenarios.Scenario {
	t.Helper()
	model := filepath.Join(t.TempDir(), "model.safetensors")
	if err := os.WriteFile(model, []byte(strings.Repeat("w", 1<<20)), 0o644); err != nil {
		t.Fatal(err)
	}
	return &scenarios.Scenario{
		Name: "t", Dir: "/", Method: scenarios.ColdStart, ColdStart: run, Points: run.Points(),
		Variants: []scenarios.Variant{{Name: "a", Server: scenarios.Server{
			Launcher: "vllm", Model: model, Host: "127.0.0.1", Replicas: 1,
		}}},
		Repeats: 2, Order: scenarios.Interleaved, Restart: scenarios.RestartNever, OnFailure: scenarios.Continue,
	}
}

// cacheRoot is the folder that a start was given for vLLM's compiled code, below
// the run folder.
func cacheRoot(spec recipe.Spec) string {
	_, below, _ := strings.Cut(spec.Env["VLLM_CACHE_ROOT"], "/caches/")
	return below
}

func TestColdStartCompileCaches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var story []string
		w := &world{launch: func(_ int, spec recipe.Spec) error {
			root := spec.Env["VLLM_CACHE_ROOT"]
			entries, err := os.ReadDir(root)
			if err != nil {
				return err
			}
			state := "cold"
			if len(entries) > 0 {
				state = "warm"
			}
			story = append(story, spec.Life+" "+state)
			if spec.Ready.Poll != startPoll {
				t.Errorf("the start is looked at every %s", spec.Ready.Poll)
			}
			return os.WriteFile(filepath.Join(root, "code"), []byte("compiled"), 0o644)
		}}
		run, _ := w.run(t.Context(), t, coldScenario(t, scenarios.ColdStartRun{
			Compile: []string{scenarios.StartCold, scenarios.StartWarm},
		}))

		want := []string{"01-a cold", "02-a-fill cold", "02-a warm", "03-a cold", "04-a warm"}
		if !slices.Equal(story, want) {
			t.Errorf("starts %q, want %q", story, want)
		}
		if got := verdicts(run); !slices.Equal(got, []string{
			"a_compile-cold_r1 ok", "a_compile-warm_r1 ok", "a_compile-cold_r2 ok", "a_compile-warm_r2 ok",
		}) {
			t.Errorf("verdicts %q", got)
		}
		for _, s := range run.Steps {
			c := s.Result.ColdStart
			if c == nil || c.Compile.Verified == nil || !*c.Compile.Verified || c.Compile.After == nil ||
				*c.Compile.After != int64(len("compiled")) || s.Result.Method() != results.MethodColdStart {
				t.Errorf("%s: %+v", s.Result.Step.ID, c)
			}
		}
		if _, err := os.Stat(filepath.Join(run.Dir, results.CachesName)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("folders of caches are left: %v", err)
		}
	})
}

// Each start gets a folder of its own, a warm one that of the variant.
func TestColdStartFolders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var roots []string
		w := &world{launch: func(_ int, spec recipe.Spec) error {
			roots = append(roots, cacheRoot(spec))
			return nil
		}}
		run, _ := w.run(t.Context(), t, coldScenario(t, scenarios.ColdStartRun{Compile: []string{scenarios.StartCold}}))
		if want := []string{
			"compile/start-01-a/vllm_cache_root", "compile/start-02-a/vllm_cache_root",
		}; !slices.Equal(roots, want) {
			t.Errorf("folders %q, want %q", roots, want)
		}
		for _, s := range run.Steps {
			warned := hasWarning(s.Result, results.WarnStartCacheUnused, "VLLM_CACHE_ROOT")
			if !warned || s.Result.Verdict != results.OK {
				t.Errorf("%s: %s %v", s.Result.Step.ID, s.Result.Verdict, s.Result.Warnings)
			}
		}
	})
}

// A start that lost its port to somebody else is tried again as cold as before.
func TestColdStartOnAnotherPort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var found []string
		w := &world{launch: func(_ int, spec recipe.Spec) error {
			root := spec.Env["VLLM_CACHE_ROOT"]
			entries, err := os.ReadDir(root)
			if err != nil {
				return err
			}
			found = append(found, strconv.Itoa(len(entries)))
			if err := os.WriteFile(filepath.Join(root, "code"), []byte("compiled"), 0o644); err != nil {
				return err
			}
			if len(found) == 1 {
				return results.Failf(results.FailForeign, "somebody else listens there")
			}
			return nil
		}}
		sc := coldScenario(t, scenarios.ColdStartRun{Compile: []string{scenarios.StartCold}})
		sc.Repeats = 1
		run, _ := w.run(t.Context(), t, sc)

		if want := []string{"0", "0"}; !slices.Equal(found, want) {
			t.Errorf("files in the compile cache at each try: %q, want %q", found, want)
		}
		if c := run.Steps[0].Result.ColdStart; c == nil || c.Compile.Verified == nil || !*c.Compile.Verified {
			t.Errorf("cold start: %+v", c)
		}
	})
}

func TestColdStartPageCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		run, _ := w.run(t.Context(), t, coldScenario(t, scenarios.ColdStartRun{Page: []string{scenarios.StartWarm}}))
		for _, s := range run.Steps {
			page := s.Result.ColdStart.Page
			if page.Verified == nil || !*page.Verified || page.Bytes == nil || *page.Bytes != 1<<20 ||
				s.Result.Verdict != results.OK {
				t.Errorf("%s: %+v, %v", s.Result.Step.ID, page, s.Result.Warnings)
			}
		}
	})
}

// A state that is not available is a doubt, not a figure.
func TestColdStartUnknownModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sc := coldScenario(t, scenarios.ColdStartRun{})
		sc.Variants[0].Server.Model = "nowhere"
		run, _ := (&world{}).run(t.Context(), t, sc)
		for _, s := range run.Steps {
			if s.Result.Verdict != results.Suspect || !hasWarning(s.Result, results.WarnStartCache, "nowhere") {
				t.Errorf("%s: %s, %v", s.Result.Step.ID, s.Result.Verdict, s.Result.Warnings)
			}
		}
	})
}

func TestColdStartThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{launch: func(int, recipe.Spec) error { return results.Failf(results.FailModel, "no such model") }}
		run, _ := w.run(t.Context(), t, coldScenario(t, scenarios.ColdStartRun{Compile: []string{scenarios.StartWarm}}))
		for _, s := range run.Steps {
			if s.Result.Verdict != results.Failed || s.Result.Failure.Class != results.FailModel {
				t.Errorf("%s: %s, %v", s.Result.Step.ID, s.Result.Verdict, s.Result.Failure)
			}
		}
		if w.launches != 2 {
			t.Errorf("%d launches, want one a step", w.launches)
		}
	})
}
