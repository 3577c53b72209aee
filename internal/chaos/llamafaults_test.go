package chaos

import (
	"os"
	"syscall"

	"github.com/benchrig/bench/results"
)

// llamaVariable names a real llama-server; without it those faults are left out.
const llamaVariable = "BENCH_LLAMA_SERVER"

// llamaFaults are those of a real llama-server with a tiny model.
func llamaFaults() []fault {
	real := func(f fault, args block) fault {
		f.stage, f.launcher, f.needs = serve, "llamacpp", func() string {
			if os.Getenv(llamaVariable) == "" {
				return llamaVariable + " names no llama-server"
			}
			return ""
		}
		f.bad = lay(block{
			"binary": os.Getenv(llamaVariable), "model": "tiny.gguf",
			"args": lay(block{"ctx-size": 8192, "parallel": 4, "threads": 1}, args),
		}, f.bad)
		f.scenario = lay(block{"load": block{"output-len": 400, "num-prompts": 16, "warmups": 0}}, f.scenario)
		more := f.prepare
		f.prepare = func(w *world) {
			if got := w.bench("tiny-model", "--output", w.path("tiny.gguf")); got.code != 0 {
				w.t.Fatalf("bench tiny-model: %s", got.stderr)
			}
			if more != nil {
				more(w)
			}
		}
		return f
	}
	return []fault{
		real(fault{kind: "crash", name: "llama-server is killed by signal 9 under load", prepare: func(w *world) {
			w.underLoad(syscall.SIGKILL)
		}, verdict: failed, class: results.FailExited, says: "signal 9"}, nil),
		real(fault{kind: "crash", name: "llama-server is sent SIGTERM under load", prepare: func(w *world) {
			w.underLoad(syscall.SIGTERM)
		}, scenario: block{"watchdog": block{"stall": "2s"}}, bad: hasted, verdict: failed}, nil),
		real(fault{
			kind: "hang", name: "llama-server is stopped (SIGSTOP) under load", prepare: func(w *world) {
				w.underLoad(syscall.SIGSTOP)
			},
			scenario: block{"watchdog": block{"stall": "1s"}}, bad: hasted, verdict: failed,
			class: results.FailNoProgress,
		}, nil),
		real(fault{
			kind: "lie", name: "llama-server reports the model's name, but has loaded another file", verdict: failed,
			class: results.FailWrongModel, says: "other.gguf", prepare: func(w *world) {
				if got := w.bench("tiny-model", "--output", w.path("other.gguf")); got.code != 0 {
					w.t.Fatalf("bench tiny-model: %s", got.stderr)
				}
				w.writeFile("wrapper.sh", "#!/bin/sh\nshift 2\nexec '"+os.Getenv(llamaVariable)+
					"' -m other.gguf \"$@\"\n")
			}, bad: block{"binary": "./wrapper.sh"},
		}, nil),
	}
}
