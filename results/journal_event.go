package results

import (
	"fmt"
	"strings"
	"time"
)

// EventKind names a line of the journal.
type EventKind string

// The journal's vocabulary. A server's life consists of LifeStarting (before
// the spawn), LifeSpawned, LifeReady or LifeFailed, LifeStopping, LifeStopped.
const (
	RunStarted   EventKind = "run-started"
	RunFinished  EventKind = "run-finished"
	StepStarted  EventKind = "step-started"
	StepFinished EventKind = "step-finished" // with its verdict
	LifeStarting EventKind = "life-starting"
	LifeSpawned  EventKind = "life-spawned"
	LifeGrown    EventKind = "life-grown" // with members that nothing but the journal could tell for ours after a crash
	LifeReady    EventKind = "life-ready"
	LifeFailed   EventKind = "life-failed"
	LifeStopping EventKind = "life-stopping"
	LifeStopped  EventKind = "life-stopped" // with the proof

	HookStarted  EventKind = "hook-started"  // with its undo, so that a crash can be put right
	HookFinished EventKind = "hook-finished" // with its record
	HookUndone   EventKind = "hook-undone"
	RunResumed   EventKind = "run-resumed"   // with what changed since
	PassStarted  EventKind = "pass-started"  // the second pass of a step of method sqzb, on servers of its own
	TestMeasured EventKind = "test-measured" // a test of a program that measures, in its message
	EngineSeen   EventKind = "engine-seen"   // who answered, at the first life of a variant and when that changes

	JobsSubmitted EventKind = "jobs-submitted" // to a cluster, that each carry out a group of steps
	JobsCanceled  EventKind = "jobs-canceled"
	JobEnded      EventKind = "job-ended"     // without a verdict for all its steps, and is not queued again
	NodeExcluded  EventKind = "node-excluded" // jobs of the run no longer go there; with the reason in its message
)

// Event is one line of journal.jsonl.
type Event struct {
	Seq     int       `json:"seq"`  // from 1, without gaps
	Time    time.Time `json:"time"` // wall clock; a label only
	Kind    EventKind `json:"event"`
	Step    string    `json:"step,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
	Life    string    `json:"life,omitempty"`
	Replica int       `json:"replica,omitempty"`
	Verdict Verdict   `json:"verdict,omitempty"`
	Failure *Failure  `json:"failure,omitempty"`
	Retry   bool      `json:"retry,omitempty"` // of StepFinished: another attempt is to follow
	Process *Process  `json:"process,omitempty"`
	Proof   *Proof    `json:"proof,omitempty"`
	Message string    `json:"message,omitempty"`

	Hook *HookRecord `json:"hook,omitempty"`
	Undo []string    `json:"undo,omitempty"` // argv that puts a hook's change back; secrets redacted
	// BENCH_* variables of the undo; in the machine's register alone, not in a run's folder
	Vars    map[string]string `json:"vars,omitempty"`
	Changes []string          `json:"changes,omitempty"`
	Engine  *Engine           `json:"engine,omitempty"`
	Jobs    *Submission       `json:"jobs,omitempty"`
	Job     *JobEnd           `json:"job,omitempty"` // of NodeExcluded: its node alone
}

// JobEnd is what is known of a job that left steps without a verdict.
type JobEnd struct {
	Group    string   `json:"group,omitempty"`
	Array    string   `json:"array,omitempty"`
	Task     int      `json:"task"`
	Job      string   `json:"id,omitempty"`     // the cluster's
	State    string   `json:"state,omitempty"`  // as the cluster names it; "": it has forgotten the job
	Reason   string   `json:"reason,omitempty"` // likewise
	Node     string   `json:"node,omitempty"`   // "": it never had one, or is not known
	ExitCode string   `json:"code,omitempty"`   // CODE:SIGNAL
	Output   []string `json:"output,omitempty"` // the last lines that it wrote
}

// Submission is a job array that was handed to a cluster.
type Submission struct {
	Array  string   `json:"array"`        // its id there
	Groups []string `json:"array_groups"` // what its jobs carry out, in the order of the cluster's numbers
}

// Text says in a line how a job ended.
func (end JobEnd) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: its job %s_%d", end.Group, end.Array, end.Task)
	switch {
	case end.State == "":
		b.WriteString(" has left the queue, and Slurm has forgotten it")
	case end.Node == "":
		fmt.Fprintf(&b, " ended as %s without a node", end.State)
	default:
		fmt.Fprintf(&b, " ended as %s on %s, exit code %s", end.State, end.Node, end.ExitCode)
	}
	if end.Reason != "" && end.Reason != "None" && end.Reason != "NonZeroExitCode" {
		fmt.Fprintf(&b, " (%s)", end.Reason)
	}
	b.WriteString(", and steps have no verdict")
	if len(end.Output) > 0 {
		b.WriteString("; its last lines: " + strings.Join(end.Output, " | "))
	}
	return b.String()
}

// Process identifies an operating-system process beyond reuse of its pid: a
// pid is ours only if boot, start time and session all agree.
type Process struct {
	PID       int      `json:"pid"`
	StartTime uint64   `json:"start_time"` // field 22 of /proc/PID/stat, clock ticks since boot
	BootID    string   `json:"boot_id"`
	Session   int      `json:"session"`
	Cookie    string   `json:"cookie"` // value of BENCH_COOKIE in its environment
	Port      int      `json:"port"`
	Argv      []string `json:"argv"`

	Cgroup    string         `json:"cgroup,omitempty"`    // path as in /proc/PID/cgroup; "": none of its own
	Container *ContainerInfo `json:"container,omitempty"` // where the server is one
	VRAM      []VRAMProof    `json:"vram,omitempty"`      // baseline of the GPUs it uses
	Shm       []string       `json:"shm,omitempty"`       // older journals: names in /dev/shm from before the start
	// what its processes were seen to have open or mapped in /dev/shm
	ShmFiles []SharedFile `json:"shm_files,omitempty"`
	Members  []Member     `json:"members,omitempty"` // of its tree, without cookie and control group
	Private  string       `json:"private,omitempty"` // folder of its sockets, which goes with it

	// what a stop gives the program, and processes that outlive it, between SIGTERM and
	// SIGKILL; 0: older journals, and the usual time for such processes
	GraceS       float64 `json:"grace_s,omitempty"`
	OrphanGraceS float64 `json:"orphan_grace_s,omitempty"`
}

// Member is a process of a server's tree.
type Member struct {
	PID       int    `json:"pid"`
	StartTime uint64 `json:"start_time"`
}

// SharedFile is a file in shared memory (/dev/shm) that a server used. It is
// known by device and inode, which a removed file's name does not share.
type SharedFile struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`

	Path  string `json:"path,omitempty"` // of one that is left
	Bytes int64  `json:"bytes,omitempty"`
	Why   string `json:"why,omitempty"` // it could not be removed
}

// ContainerInfo identifies a container beyond reuse of its name.
type ContainerInfo struct {
	Engine string `json:"engine"` // "docker", "podman"
	Name   string `json:"name"`
	ID     string `json:"id"` // "" before it runs
	Label  string `json:"label"`

	Image *ImageInfo `json:"image,omitempty"` // null: not known yet
}

// ImageInfo says which image a container was made of. A tag such as "latest"
// may name another one the next day.
type ImageInfo struct {
	Name   string            `json:"name"`   // as the scenario has it
	ID     string            `json:"id"`     // of its configuration: the same content has the same id
	Digest string            `json:"digest"` // of what its registry sent, "sha256:..."; "": it came from none
	Labels map[string]string `json:"labels"` // that its makers gave it
}

// Proof is what was checked after a stop.
type Proof struct {
	ExitCode   *int     `json:"exit_code"`   // of the leader; 128+n after signal n
	Signals    []string `json:"signals"`     // sent, in order: "TERM", "KILL"
	LeftBehind int      `json:"left_behind"` // processes of the session that outlived the leader and were ended
	PIDsGone   bool     `json:"pids_gone"`
	PortFree   bool     `json:"port_free"`
	StopS      float64  `json:"stop_s"` // from the first signal to the proof

	// pids in an uninterruptible system call that SIGKILL does not end
	Unkillable []int       `json:"unkillable,omitempty"`
	VRAM       []VRAMProof `json:"vram"` // one per GPU used; empty: memory was not looked at
	// names of the server's files in /dev/shm that it left and nobody used
	ShmRemoved []string     `json:"shm_removed,omitempty"`
	ShmLeft    []SharedFile `json:"shm_left,omitempty"` // the server's files in /dev/shm that could not be removed

	Nodes []NodeProof `json:"nodes,omitempty"` // the other nodes of a server over several
}

// NodeProof is what was checked on another node after a stop.
type NodeProof struct {
	Node     string      `json:"node"`
	Ended    []int       `json:"pids_ended"` // that were still there
	Signals  []string    `json:"signals"`
	PIDsGone bool        `json:"pids_gone"`
	VRAM     []VRAMProof `json:"vram"`            // of its GPUs that the job may use
	Error    string      `json:"error,omitempty"` // why it is not known

	Containers []string `json:"containers_removed,omitempty"` // names of those that were still there
}

// Clean reports whether nothing of the server is left on the node.
func (p NodeProof) Clean() bool { return p.PIDsGone && p.Error == "" && freed(p.VRAM) }

func freed(all []VRAMProof) bool {
	for _, v := range all {
		if !v.Freed {
			return false
		}
	}
	return true
}

// VRAMProof compares a GPU's used memory after a stop with that before the
// start.
type VRAMProof struct {
	Device        string `json:"device"`
	BaselineBytes int64  `json:"baseline_bytes"`
	// of the baseline, what others held as far as it is known
	ForeignBytes *int64      `json:"foreign_bytes,omitempty"`
	AfterBytes   *int64      `json:"after_bytes"` // null: could not be read
	Freed        bool        `json:"freed"`       // back at the baseline, within the tolerance
	TookS        float64     `json:"took_s"`      // from the end of the processes
	Holders      []GPUHolder `json:"holders"`     // where not freed: who holds it
}

// Clean reports whether nothing of the server is left.
func (p Proof) Clean() bool {
	for _, n := range p.Nodes {
		if !n.Clean() {
			return false
		}
	}
	return p.PIDsGone && p.PortFree && freed(p.VRAM)
}
