package scenarios

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/benchrig/bench/scenarios/schema"
)

// The types of this file say how a run looks after itself: what it watches,
// when it waits, what it runs around the measuring, and whom it notifies.

// Watchdog limits the time without progress.
type Watchdog struct {
	Stall time.Duration // no token of any request of a pass while some are outstanding; 0: off
}

// Disk bounds what a run may fill.
type Disk struct {
	MinFree int64 // bytes that must stay free where the results are; 0: not watched
	MaxLog  int64 // bytes kept of one server's log, its head and its end; 0: all
}

// Telemetry says how GPUs and the host are sampled while a pass runs.
type Telemetry struct {
	Off        bool
	Sampler    string        // "auto", or the name of a sampler of package gpu
	Period     time.Duration // 0: the sampler's own
	OnThrottle Reaction      // to a step under throttling or under another power limit than the first
	OnForeign  Reaction      // to processes of others on our GPUs during a step
}

// Reaction says what a doubt about the machine means for a step.
type Reaction string

// The reactions. A step is repeated at most once for each of Scenario.Retries.
const (
	ReactIgnore  Reaction = "ignore"  // recorded, without a doubt
	ReactSuspect Reaction = "suspect" // the step is suspect
	ReactRepeat  Reaction = "repeat"  // the step is repeated, and suspect if it happens again
)

// Settle is the wait before a step until its GPUs are calm.
type Settle struct {
	Timeout time.Duration // 0: no wait. When it has passed the step runs, with a warning
	MaxTemp float64       // degrees Celsius of the hottest sensor; 0: not asked
	Power   float64       // times the idle power seen before the first server; 0: not asked
	Clock   SettleClock   // of the cores; "": not asked
}

// Asks reports whether there is anything to wait for.
func (s Settle) Asks() bool {
	return s.MaxTemp > 0 || s.Power > 0 || s.Clock != ""
}

// SettleClock says what the clock of a GPU's cores must be like.
type SettleClock string

// The conditions of a clock.
const (
	ClockStable SettleClock = "stable" // it does not move
	ClockIdle   SettleClock = "idle"   // near that before the first server
)

// VRAM is the part of a stop's proof that is about video memory.
type VRAM struct {
	Timeout   time.Duration  // from the end of the processes until memory is back; 0: 2 minutes, AMD 15
	Tolerance int64          // bytes above the baseline that count as back; 0: the larger of 512 MiB and 1 %
	Foreign   ForeignHolders // what memory of others means
}

// ForeignHolders says what to do when processes that are not ours hold memory
// of the GPUs that a server is to use. They are never ended.
type ForeignHolders string

// What to do about foreign holders.
const (
	ForeignReport ForeignHolders = "report" // go on, each step gets a warning
	ForeignWait   ForeignHolders = "wait"   // wait for VRAM.Timeout, then as refuse
	ForeignRefuse ForeignHolders = "refuse" // the variant's steps fail
)

// LevelHooks are the hooks of each level. Those of level variant run around
// every server life of a variant: before the spawn and after the proof.
type LevelHooks struct{ Run, Variant, Step Hooks }

// Hooks run around something, each in the order of the file.
type Hooks struct{ Before, After []Hook }

// Hook is a command, an HTTP call or a check. Exactly one of Command, HTTP and
// Check is set.
type Hook struct {
	Name    string
	Command []string      // argv; never a shell string
	HTTP    HTTPCall      // URL "": none
	Check   Check         // Kind "": none; its Refuse is that of the hook
	Timeout time.Duration // SIGKILL to the whole process tree after it
	Undo    []string      // argv that puts back what the hook changed, after the matching level has ended or a crash
	Refuse  bool          // a failure fails what it stands before; false: a warning
}

// HTTPCall is a request whose answer must be 2xx.
type HTTPCall struct {
	Method  string
	URL     string // may be a secret as a whole
	Headers map[string]EnvValue
	Body    string
}

// Check is a condition of the machine that is looked at before a run.
type Check struct {
	// "kernel-parameter", "governor", "power-limit", "numa-balancing", "free-vram", "free-disk", "file", "command"
	Kind   string
	Name   string // kernel parameter, file; "" where the kind says it all
	Want   string // what it must be, or at least be: "off", "performance", "750", "20GiB"
	Argv   []string
	Refuse bool // false: a warning
}

// Notify informs somebody about the progress of a run.
type Notify struct {
	Webhook EnvValue // URL; "" for a command
	Format  string   // of the webhook's body: "json", "ntfy", "slack"
	Command []string // argv; gets the message on stdin and BENCH_* variables
	On      []string // "end", "first-failure"
}

// PrefixCache is the state of the server's prefix cache that a point asks for.
type PrefixCache string

// The states. Cold is enforced by whatever the engine has and checked by its
// counters; a step that was not in the asked state is suspect.
const (
	CacheCold PrefixCache = "cold"
	CacheWarm PrefixCache = "warm" // the measured prompts are sent once before
	CacheAny  PrefixCache = "any"  // taken as it comes, and reported
)

// Container says how to wrap a launcher's recipe into a container.
type Container struct {
	Image   string   // "": no container
	Engine  string   // "docker", "podman"; "": whichever answers
	GPUs    string   // value of --gpus for NVIDIA: "all", "none"; "": those placed
	Devices []string // --device; nil on AMD: /dev/kfd and /dev/dri
	Mounts  []string // -v; sources relative to the scenario file are made absolute
	IPC     string   // --ipc; "host" unless set
	ShmSize string   // --shm-size; "": none
	Network string   // --network; "host" unless set
	// in place of the launcher's program within the image; nil: the image's entry point gets the arguments
	Command []string
	Args    []string // further arguments of run, before the image
	MaxLog  string   // --log-opt max-size

	Cache string        // folder whose subfolders are mounted where the engine keeps downloads; "": none
	Pull  time.Duration // longest time for an image to come
}

// CheckName says what a check looks at and wants.
func CheckName(c Check) string {
	parts := []string{c.Kind}
	switch {
	case c.Kind == "command" && len(c.Argv) > 0:
		parts = append(parts, filepath.Base(c.Argv[0]))
	case c.Kind == "kernel-parameter" && c.Want != "":
		parts = append(parts, c.Name+"="+c.Want)
	default:
		for _, word := range []string{c.Name, c.Want} {
			if word != "" {
				parts = append(parts, word)
			}
		}
	}
	return strings.Join(parts, " ")
}

// Bytes is the size that a check of free memory or disk wants.
func (c Check) Bytes() int64 {
	bytes, _ := schema.ParseSize(c.Want)
	return bytes
}

// CheckKinds are the conditions that a check can look at.
func CheckKinds() []string {
	return []string{
		"kernel-parameter", "governor", "numa-balancing", "power-limit", "free-vram", "free-disk", "file",
		"command",
	}
}
