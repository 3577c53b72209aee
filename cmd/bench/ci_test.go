package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// workflowStep is a step of a workflow that runs commands.
type workflowStep struct{ name, condition, script string }

// workflowSteps reads the steps of the workflow in docs/ci.md.
func workflowSteps(t *testing.T) []workflowStep {
	t.Helper()
	text, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	_, workflow, _ := strings.Cut(string(text), "```yaml\n")
	workflow, _, _ = strings.Cut(workflow, "```")

	var steps []workflowStep
	for _, block := range strings.Split(workflow, "\n      - ")[1:] {
		_, run, found := strings.Cut(block, "        run: ")
		if !found {
			continue // an action, which only a runner has
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(block, "name: "), "\n")
		step := workflowStep{name: name, script: strings.TrimPrefix(run, "|\n")}
		if match := regexp.MustCompile(`(?m)^ +if: (.*)$`).FindStringSubmatch(block); match != nil {
			step.condition = match[1]
		}
		steps = append(steps, step)
	}

	return steps
}

// job is a run of the workflow as a runner does it.
type job struct {
	dir         string
	pullRequest bool
}

// run runs the steps and returns which one failed first, "" if none did.
func (j job) run(t *testing.T, steps []workflowStep) (failed string) {
	t.Helper()
	for _, step := range steps {
		always := strings.Contains(step.condition, "always()")
		if strings.Contains(step.condition, "pull_request") && !j.pullRequest || failed != "" && !always {
			continue
		}
		script := strings.NewReplacer("${{ github.event.number }}", "12",
			"bench doctor ci/bench.yaml", "bench doctor ci/bench.yaml || [ $? = 3 ]", // the machine may be busy
		).Replace(step.script)
		if strings.Contains(script, "${{") {
			t.Errorf("step %q has an expression that this test does not know:\n%s", step.name, script)
		}
		cmd := exec.CommandContext(t.Context(), "bash", "-eo", "pipefail", "-c", script)
		cmd.Dir = j.dir
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(j.dir)+":"+os.Getenv("PATH"),
			"BENCH_STATE_DIR="+filepath.Join(j.dir, "state"), "ARTIFACTS="+filepath.Dir(j.dir))
		out, err := cmd.CombinedOutput()
		t.Logf("step %q: %v\n%s", step.name, err, out)
		if err != nil && failed == "" {
			failed = step.name
		}
	}

	return failed
}

// ghScript plays GitHub's client: one artifact, that of the main branch, and one comment.
const ghScript = `#!/bin/sh
case "$1 $2" in
"run list") [ ! -f "$ARTIFACTS/run.zip" ] || echo 7 ;;
"run download") [ "$3" = 7 ] && mkdir main && cp "$ARTIFACTS/run.zip" main/ ;;
"pr comment") [ "$3" = 12 ] && cp "$5" "$ARTIFACTS/posted.md" ;;
*) exit 9 ;;
esac
`

// ciScenario is fast or, for a change that makes the server slower, slow.
const ciScenario = `schema: 1
name: ci
server: {launcher: simulator, model: simulated/Llama-3.2-1B-Instruct, args: {sim-load-time: 0s, sim-speed: SPEED}}
variants: [{name: a}]
load: {dataset: {kind: random}, input-len: 64, output-len: 32, num-prompts: 4, max-concurrency: 2}
repeats: 3
`

// The workflow of docs/ci.md: the main branch's run is kept; a pull request that
// comes before it is only reported; one without a change passes; one that makes
// the server slower fails, and says so in its comment.
func TestWorkflow(t *testing.T) {
	for _, program := range []string{"bash", "unzip"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	t.Parallel()
	steps := workflowSteps(t)
	if len(steps) < 5 {
		t.Fatalf("%d steps in docs/ci.md, want 5 at least", len(steps))
	}

	top := t.TempDir()
	benchIn(t, top)
	if err := os.WriteFile(filepath.Join(top, "gh"), []byte(ghScript), 0o755); err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		name, speed string
		pullRequest bool
		failed      string // the step that fails
		posted      string // what the comment says, a pattern
	}{
		{"early", "1", true, "", "no run to compare with"},
		{"main", "1", false, "", ""},
		{"slower", "0.1", true, "Compare", "Comparison against base"},
	} {
		j := job{filepath.Join(top, c.name), c.pullRequest}
		if err := os.MkdirAll(filepath.Join(j.dir, "ci"), 0o755); err != nil {
			t.Fatal(err)
		}
		scenario := strings.Replace(ciScenario, "SPEED", c.speed, 1)
		if err := os.WriteFile(filepath.Join(j.dir, "ci", "bench.yaml"), []byte(scenario), 0o644); err != nil {
			t.Fatal(err)
		}
		failed := j.run(t, steps)
		posted, _ := os.ReadFile(filepath.Join(top, "posted.md"))
		if c.pullRequest && !regexp.MustCompile(c.posted).Match(posted) {
			t.Errorf("%s: the comment does not say %q:\n%s", c.name, c.posted, posted)
		}
		// On a busy machine repeats become suspect, and too few are left for a verdict.
		doubtful := c.failed != "" && failed == "" && bytes.Contains(posted, []byte("left out (suspect"))
		if failed != c.failed && !doubtful {
			t.Errorf("%s: step %q failed, want %q", c.name, failed, c.failed)
		}
		// It is undecided where the base's own starts drifted, as on a busy machine.
		worse := regexp.MustCompile(`output tok/s is (worse|undecided in 1 of 1 comparison\. Also worse: )`)
		if failed == "Compare" && !worse.Match(posted) {
			t.Errorf("%s: the comment does not say what is worse:\n%s", c.name, posted)
		}
		if !c.pullRequest {
			if err := os.Rename(filepath.Join(j.dir, "run.zip"), filepath.Join(top, "run.zip")); err != nil {
				t.Errorf("%s: the bundle: %v", c.name, err)
			}
		}
	}
}
