package chaos

import (
	"os"
	"strings"

	"github.com/benchrig/bench/results"
)

// hookFaults are commands around the measuring that go wrong. Each change that
// a hook makes is a file named changed, which its undo removes.
func hookFaults() []fault {
	const spawn = "spawn"
	change := block{"name": "change", "command": []string{"touch", "changed"}, "undo": []string{"rm", "changed"}}
	before := func(hooks ...block) block {
		return block{"hooks": block{"before": append([]block{change}, hooks...)}}
	}
	putBack := func(w *world, _ conclusion) {
		w.t.Helper()
		if _, err := os.Stat(w.path("changed")); err == nil {
			w.t.Errorf("what a hook changed was not put back")
		}
	}
	return []fault{
		{
			stage: spawn, kind: "crash", name: "a hook fails", bad: before(block{"command": []string{"false"}}),
			verdict: failed, class: results.FailHook, says: "false", after: putBack,
		},
		{
			stage: spawn, kind: "hang", name: "a hook hangs, with children",
			bad:     before(block{"command": []string{"sh", "-c", "sleep 100 & sleep 100"}, "timeout": "1s"}),
			verdict: failed, class: results.FailHook, says: "1s", after: putBack,
		},
		{
			stage: spawn, kind: "crash", name: "hook program missing",
			bad:     before(block{"command": []string{"./no-such-hook"}}),
			verdict: failed, class: results.FailHook, says: "no-such-hook", after: putBack,
		},
		{
			stage: spawn, kind: "leak", name: "a hook leaves a daemon behind",
			bad: before(block{"command": []string{"sh", "-c", "setsid sleep 100 >/dev/null 2>&1 &"}}), after: putBack,
		},
		{
			stage: spawn, kind: "slow", name: "a hook fails, on-failure is warn",
			bad:   before(block{"command": []string{"false"}, "on-failure": "warn"}),
			class: results.FailureClass(results.WarnHook), after: putBack,
		},
		{
			stage: spawn, kind: "flood", name: "a hook writes without end",
			bad:     before(block{"command": []string{"yes"}, "timeout": "1s"}),
			verdict: failed, class: results.FailHook, after: putBack,
		},
		{
			stage: spawn, kind: "lie", name: "a check refuses the machine",
			scenario: block{"checks": []block{{"kind": "command", "command": []string{"false"}}}},
			verdict:  notRun, class: results.FailHook, good: notRun, why: results.FailHook, after: headline("check"),
		},
		{
			stage: spawn, kind: "lie", name: "a hook reports success, and its check finds no change",
			bad: before(block{"command": []string{"true"}}, block{"check": block{
				"kind": "file", "name": "changed",
				"want": "300 W",
			}}),
			verdict: failed, class: results.FailHook, after: putBack,
		},
		{
			stage: stop, kind: "crash", name: "the undo of a hook fails",
			bad: block{"hooks": block{"before": []block{{"command": []string{"true"}, "undo": []string{"false"}}}}},
			after: func(w *world, end conclusion) {
				if !strings.Contains(story(end.good)+end.stderr, "undo") && !doubted(end.good, results.WarnHook) {
					w.t.Errorf("nothing reports the undo that failed: %s", story(end.good))
				}
			},
		},
	}
}

func doubted(r *results.Result, code results.WarningCode) bool {
	for _, doubt := range r.Warnings {
		if doubt.Code == code {
			return true
		}
	}
	return false
}
