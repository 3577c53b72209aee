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
	b.WriteString(`# Faults and what becomes of them

This page is made from the table of the fault suite (` + "`go test ./chaos -run TestDocs -update-docs`" +
		`); the suite asserts every line of it.
` + "`make chaos`" + ` runs all of them and 50 runs that are killed and resumed, and prints what it saw; ` +
		"`make test`" + ` takes every third row of each stage and kind, without those of too little memory, and four kills.

Each row is a run of bench as a program of its own, in a folder of its own, of two variants: one with the fault and, after it, a sound one, both with servers in the shape of
vLLM unless the row says otherwise. After each:

- no process of the run is left, whatever session, process group, environment, name and parent it had; no control group, no container, no file in /dev/shm
- the port can be bound
- bystanders live and serve: a worker that carries the cookie of another run, a server with the very command line of ours, a server on the next port
- the journal is whole: numbered without gaps, every server that was started has its end, every step a verdict
- the exit code is 0 if all steps have figures, 3 if not

"ok" stands for figures; a busy box may make them suspect. Rows that need what a machine lacks (a real llama-server, named by BENCH_LLAMA_SERVER; the right to mount) are left out there.
Those with GPUs play a machine with a MI300X in files, those with containers a fake docker whose containers are processes that outlive their client.

`)
	for _, stage := range stages() {
		fmt.Fprintf(&b, "## %s\n\n%s\n\n", stage, stageMeanings()[stage])
		if ofRun(stage) {
			b.WriteString("| kind | what happens | outcome |\n|---|---|---|\n")
		} else {
			b.WriteString("| kind | fault | the step | its reason has | the next variant |\n|---|---|---|---|---|\n")
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

A matrix of eight steps over four server lives is killed with SIGKILL at 50 moments: anywhere; right after an event of the journal, above all between the one before a spawn and the one
after it; within the first 200 ms; up to four times, also while it is resumed and while ` + "`bench clean`" +
		` works; with servers in the shape of vLLM, SGLang and TGI and with the simulator.
Then it is resumed to its end. Beside all that is said above, every file of every step that was finished before the kill is still there, byte for byte, and the table of
` + "`bench report`" + ` has the steps and verdicts of a run that nobody disturbed.

## What the outcomes mean

A verdict, and after it the class of the failure or the code of the doubt:

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
		"spawn": "Before the server runs, or right after it was started.",
		"load":  "While it loads its model.",
		"ready": "When it says that it is ready.",
		"serve": "Under load.",
		"stop":  "When it is to end, and after that.",
		"bench": "Not to a server but to bench itself, and to what it leaves.",
		"engines": "Each with a real docker and a real podman where they are installed, and bench runs as root; the " +
			"daemon is docker's. " +
			"Ports published from a bridge network and podman without root are tested beside them. `make test` " +
			"takes the leak and the memory limit.",
	}
}

func meanings() map[string]string {
	return map[string]string{
		string(results.OK):      "the step has figures",
		string(results.Suspect): "it has figures, and the report says beside them why they are doubtful",
		string(results.Failed): "it has none, or too few requests succeeded; what was measured is kept, and the " +
			"run goes on",
		string(results.NotRun): "the run ended before it; the reason is the headline of the report, and `bench " +
			"resume` goes on from there",

		string(results.FailNotFound):  "the program cannot be run",
		string(results.FailBadRecipe): "the scenario's recipe makes no command",
		string(results.FailBadFlag):   "the engine does not know a flag",
		string(results.FailExited): "the server exited before it was stopped, with any exit code; the end of " +
			"its log is kept",
		string(results.FailPortInUse):   "somebody has the port; bench says who, where that can be seen",
		string(results.FailOutOfMemory): "its log, the kernel or the container engine says so",
		string(results.FailKVCache):     "no room for one request of the model's length",
		string(results.FailGated):       "the model's owner has to let you in",
		string(results.FailEngineDied):  "a part of the engine died; the first traceback is kept",
		string(results.FailReadyStall):  "no log, no CPU time, no bytes read for `ready.stall`",
		string(results.FailReadyTimeout): "no token within `ready.timeout`, whatever the health path says; the " +
			"message says how far it came",
		string(results.FailWrongModel): "another model than the one asked for answers",
		string(results.FailForeign):    "a process that is not ours answers on the port",
		string(results.FailAuth):       "the server wants a key",
		string(results.FailRequests): "fewer requests succeeded than `min-success`; the message counts the " +
			"others by class",
		string(results.FailRestarted): "the server's counters went back: it is not the one that the step began with",
		string(results.FailNoProgress): "no token of any request for `watchdog.stall`; the server is started anew " +
			"for the next step",
		string(results.FailDeadline):   "a deadline of the scenario passed",
		string(results.FailForeignGPU): "others hold memory of the server's GPUs; they are never ended",
		string(results.FailNoProof): "processes, port, memory or container could not be proven gone: the next " +
			"server would be measured beside them",
		string(results.FailDisk): "too little disk is left, or nothing can be written",
		string(results.FailHook): "a hook or check refused; what hooks changed before is put back. As a " +
			"doubt: one failed that may",
		string(results.FailImage):     "the image cannot be had",
		string(results.FailContainer): "the container engine does not answer",

		string(results.WarnShortOutput):    "answers were shorter than asked",
		string(results.WarnForeignGPUUser): "others used the GPUs of the step",
		string(results.WarnThrottled):      "a GPU slowed down",
		string(results.WarnReplaced): "a process behind the server's port ended during the pass, and another one of " +
			"the same server took its place",
		string(results.WarnPowerLimit): "a GPU's power limit is not that of the first step",
		string(results.WarnRetried):    "an earlier attempt failed or was disturbed; it is kept beside this one",
	}
}
