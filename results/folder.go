// Package results holds the values of a run folder: the manifest,
// journal events, records of single requests, results of steps, warning and
// failure codes.
//
// What goes in: nothing. What comes out: types, their JSON names and what
// their values mean. It reads and writes no file: package store does.
package results

import (
	"encoding/json"
	"strconv"
)

// FormatVersion is the version of every file this package writes. A reader
// refuses a folder with a newer version and says so.
const FormatVersion = 1

// JobsName is the folder for what jobs on other machines leave of themselves,
// in a run that several of them carry out.
const JobsName = "jobs"

// Group is what one job carries out: whole server lives, in their order.
type Group struct {
	ID    string   `json:"id"` // "g001"; a folder name
	Lives []string `json:"lives"`
	Steps []string `json:"steps"`
	Nodes int      `json:"nodes,omitempty"` // that its job needs; 0: one
}

// Part is what one job has left of itself. Results and logs are with those of
// the other jobs; each has a journal of its own, so that none waits for another
// or for a lock, which network file systems may not have.
type Part struct {
	Group       string
	Number      int // of the job in its group, from 1: one that was queued again makes another part
	Environment json.RawMessage
	Events      []Event
	Finished    bool // the journal ends the job's work
}

// Name is the part's folder below the run's, with slashes.
func (p Part) Name() string { return JobsName + "/" + p.Group + "/" + strconv.Itoa(p.Number) }

// Names of files and folders inside a run folder.
const (
	ManifestName    = "manifest.json"
	ScenarioName    = "scenario.yaml"
	PlanName        = "plan.json"
	EnvironmentName = "environment.json"
	JournalName     = "journal.jsonl"
	ResultName      = "result.json"
	RequestsName    = "requests.jsonl" // ".zst" is added when the step has ended
	CommandName     = "command.txt"
	BlockName       = "block.txt"
	SecondPassName  = "pass-2" // folder of a step, for what its second pass leaves
	ReportName      = "report.md"
	SummaryName     = "summary.csv"
	StepsName       = "steps"
	LivesName       = "lives"
	AttemptsName    = "attempts" // folders of attempts that run, or that another one has replaced
	CachesName      = "caches"   // folders of servers whose starts are measured, while the run lasts
	LockName        = ".lock"
)
