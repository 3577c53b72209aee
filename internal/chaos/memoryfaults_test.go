package chaos

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/results"
)

// groupMemory is what bench and its servers have together, in bytes: less than
// an engine or a worker that eats, more than bench takes.
const groupMemory = 384 << 20

// outOfMemoryFaults have the kernel kill where memory runs out: a server, and never
// bench.
func outOfMemoryFaults() []fault {
	killed := func(stage, name string, engine func(*engine), says string) fault {
		return fault{
			stage: stage, kind: "crash", name: name, needs: memoryGroups, prepare: littleMemory, engine: engine,
			verdict: failed, class: results.FailOutOfMemory, says: says,
		}
	}

	return []fault{
		killed("load", "the control group of the run has no memory left while the model loads",
			func(c *engine) { c.Eat = 2 * groupMemory }, "the kernel killed for lack of memory"),
		killed(serve, "the control group of the run has no memory left under load: a worker is killed",
			request(fakeengine.FaultWorker), "the kernel killed for lack of memory"),
	}
}

// memoryParent is the folder in which memory groups can be made, of the first
// version of control groups: with the second, a group that has processes cannot
// give memory limits to groups below it. "" where there is none.
func memoryParent() string {
	text, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		if _, own, found := strings.Cut(strings.TrimSpace(line), ":memory:"); found {
			return filepath.Join("/sys/fs/cgroup/memory", own)
		}
	}
	return ""
}

// memoryGroups says what keeps us from limiting the memory of a run.
func memoryGroups() string {
	if !whole() {
		return "only without the race detector, under which bench takes more memory than the limit leaves it"
	}
	const none = "needs the right to make memory groups"
	parent := memoryParent()
	if parent == "" {
		return none
	}
	group, err := os.MkdirTemp(parent, "bench-chaos-")
	if err != nil || limitMemory(group) != nil {
		return none
	}
	if os.Remove(group) != nil {
		return none
	}
	return ""
}

func limitMemory(group string) error {
	limit := []byte(strconv.Itoa(groupMemory))
	err := os.WriteFile(filepath.Join(group, "memory.limit_in_bytes"), limit, 0o600)
	_ = os.WriteFile(filepath.Join(group, "memory.memsw.limit_in_bytes"), limit, 0o600) // not every kernel counts swap
	return err
}

// littleMemory has bench and all that it starts share groupMemory.
func littleMemory(w *world) {
	group, err := os.MkdirTemp(memoryParent(), "bench-chaos-")
	if err == nil {
		err = limitMemory(group)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := os.Remove(group); err != nil {
			w.t.Error(err)
		}
	})
	w.wrapper = []string{"sh", "-c", `echo $$ > "$0"/cgroup.procs && exec "$@"`, group}
}
