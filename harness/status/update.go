package status

import (
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
)

// Update informs a watcher. Calls do not overlap.
type Update struct {
	Kind     UpdateKind
	Index    int // of the step, from 1
	Total    int
	Step     results.StepRef
	Pass     int // 2: the second of a step with two
	Life     string
	Servers  []results.Server    // LifeReady
	Progress load.Progress       // StepProgress
	Result   *results.Result     // StepEnded
	Failure  *results.Failure    // LifeFailed, LifeEnded when it could not be proven gone, StepNotNeeded
	Hook     *results.HookRecord // HookRan
	Message  string              // StepSettling: what is waited for; StepWarning: what will go wrong
}

// UpdateKind names a moment of a run.
type UpdateKind string

// The moments that a watcher sees.
const (
	LifeLaunching UpdateKind = "launching"
	LifeReady     UpdateKind = "ready"
	LifeFailed    UpdateKind = "launch-failed"
	LifeStopping  UpdateKind = "stopping"
	LifeEnded     UpdateKind = "stopped"
	StepBegun     UpdateKind = "step"
	StepSettling  UpdateKind = "settling"
	StepWarning   UpdateKind = "doubt"
	StepProgress  UpdateKind = "progress"
	StepEnded     UpdateKind = "step-ended"
	HookRan       UpdateKind = "hook"
	StepNotNeeded UpdateKind = "not-needed" // with those behind it of which the same is true
)
