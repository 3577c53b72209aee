package chaos

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/results"
)

// document is docs/chaos.md: the table, with what its words mean.
func document() string {
	var b strings.Builder
	b.WriteString(`# Fault suite

This page is generated from the table of the fault suite (` + "`go test ./internal/chaos -run TestDocs -update-docs`" +
		`). The suite checks every row.
` + "`make chaos`" + ` runs all faults and 50 runs that are killed and resumed, and prints the outcomes. ` +
		"`make test`" + ` runs every third fault of each stage and kind, except those with too little memory, and four killed runs.

Each row is one run of bench with two variants: one with the fault, and after it one without. Both start fake servers with the process tree of vLLM, unless the row says
otherwise. After each run the suite checks that:

- no process of the run is left, in whatever session or process group and under whatever parent; nor a control group, a container or a file in /dev/shm
- the port can be bound
- unrelated processes still run: a worker with the cookie of another run, a server with the same command line, a server on the next port
- the journal is complete: its events are numbered without gaps, each started server has an end, each step a verdict
- the exit code is 0 if all steps have figures, 3 if not

"ok" means that the step has figures; on a busy machine they may be suspect. Rows whose needs a machine does not meet (a real llama-server, named by BENCH_LLAMA_SERVER; the right to
mount) are skipped. GPUs are simulated by files of a machine with an MI300X, containers by a fake docker whose containers are processes that outlive their client.

`)
	for _, stage := range stages() {
		fmt.Fprintf(&b, "## %s\n\n%s\n\n", stage, stageMeanings()[stage])
		if ofRun(stage) {
			b.WriteString("| kind | what happens | outcome |\n|---|---|---|\n")
		} else {
			b.WriteString("| kind | fault | step | reason contains | next variant |\n|---|---|---|---|---|\n")
		}
		for _, kind := range kinds() {
			for _, r := range rows() {
				switch {
				case r.stage != stage || r.kind != kind:
				case ofRun(stage):
					fmt.Fprintf(&b, "| %s | %s | %s |\n", r.kind, r.name, r.want)
				default:
					fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.kind, r.name, r.want, r.says, r.next)
				}
			}
		}
		b.WriteString("\n")
	}
	b.WriteString(`## Killed and resumed

A run of eight steps with four server starts is killed with SIGKILL at 50 moments: at any time; right after an event of the journal, most often between the events before and after
a server is spawned; within the first 200 ms; up to four times, also during a resume and during ` + "`bench clean`" +
		`; with the process trees of vLLM, SGLang and TGI, and with the simulator.
Then it is resumed to its end. In addition to the checks above, each file of a step that was finished before the kill is unchanged, byte for byte, and the table of
` + "`bench report`" + ` has the steps and verdicts of an undisturbed run.

## Outcomes

An outcome is a verdict, then the class of the failure or the code of the warning:

| outcome | meaning |
|---|---|
`)
	for _, word := range words() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", word, meanings()[word])
	}
	fmt.Fprintf(&b, "\n%d faults.\n", len(rows()))
	return b.String()
}

// ofRun reports whether a stage's rows tell what becomes of the run as a whole.
func ofRun(stage string) bool { return stage == "bench" || stage == "engines" }

// words are the verdicts and classes of the table.
func words() []string {
	var all []string
	for _, r := range rows() {
		if ofRun(r.stage) {
			continue
		}
		for _, cell := range []string{r.want, r.next} {
			verdict, class, _ := strings.Cut(cell, ": ")
			all = append(all, verdict)
			if class != "" {
				all = append(all, class)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func stageMeanings() map[string]string {
	return map[string]string{
		"spawn": "Before the server is started, or right after.",
		"load":  "While the server loads its model.",
		"ready": "When the server reports that it is ready.",
		"serve": "Under load.",
		"stop":  "While the server is stopped, and after that.",
		"bench": "Faults of bench itself, and what it leaves behind.",
		"engines": "With a real docker and a real podman, where they are installed and bench runs as root; the daemon " +
			"is docker's. Bridge networks with published ports and podman without root have tests of their own. " +
			"`make test` runs the leak and the memory limit.",
	}
}

func meanings() map[string]string {
	return map[string]string{
		string(results.OK):      "the step has figures",
		string(results.Suspect): "the step has figures, and the report says why they may be wrong",
		string(results.Failed): "the step has no figures, or too few requests succeeded; what was measured is kept, " +
			"and the run continues",
		string(results.NotRun): "the run ended before the step; the report begins with the reason, and `bench resume` " +
			"continues the run",

		string(results.FailNotFound):  "the program cannot be run",
		string(results.FailBadRecipe): "no command line can be made from the scenario",
		string(results.FailBadFlag):   "the engine does not know a flag",
		string(results.FailExited): "the server exited before it was stopped, with any exit code; the end of " +
			"its log is kept",
		string(results.FailPortInUse):   "the port is in use; the message names the process, if it is visible",
		string(results.FailOutOfMemory): "its log, the kernel or the container engine says so",
		string(results.FailKVCache):     "no room for one request of the model's length",
		string(results.FailGated):       "the model requires access, which its owner grants",
		string(results.FailEngineDied):  "a part of the engine died; the first traceback is kept",
		string(results.FailReadyStall):  "no log, no CPU time, no bytes read for `ready.stall`",
		string(results.FailReadyTimeout): "no token within `ready.timeout`, whatever the health path reports; the " +
			"message names the last check that passed",
		string(results.FailWrongModel): "the server serves another model than the one requested",
		string(results.FailForeign):    "a process that bench did not start answers on the port",
		string(results.FailAuth):       "the server requires an API key",
		string(results.FailRequests): "fewer requests succeeded than `min-success`; the message counts the " +
			"others by class",
		string(results.FailRestarted): "the server's counters decreased, so it was restarted during the step",
		string(results.FailNoProgress): "no request received a token for `watchdog.stall`; the server is restarted " +
			"for the next step",
		string(results.FailDeadline):   "a deadline of the scenario passed",
		string(results.FailForeignGPU): "other processes hold memory of the server's GPUs; they are never stopped",
		string(results.FailNoProof): "processes, port, memory or container could not be proven gone: the next " +
			"server would be measured beside them",
		string(results.FailDisk): "too little disk is left, or nothing can be written",
		string(results.FailHook): "a hook or check failed; earlier changes by hooks are undone. As a warning: " +
			"one failed that is allowed to",
		string(results.FailImage):     "the image cannot be pulled or read",
		string(results.FailContainer): "the container engine does not answer",

		string(results.WarnShortOutput):    "answers were shorter than requested",
		string(results.WarnForeignGPUUser): "other processes used the GPUs of the step",
		string(results.WarnThrottled):      "a GPU slowed down",
		string(results.WarnReplaced): "a process behind the server's port ended during the pass, and another one of " +
			"the same server took its place",
		string(results.WarnPowerLimit): "the power limit of a GPU differs from that of the first step",
		string(results.WarnRetried):    "an earlier attempt failed or was disturbed; it is kept beside this one",
	}
}
