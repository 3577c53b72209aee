package report

import (
	"bytes"
	"maps"
	"slices"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/detail"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/codes"
)

// Document is the report of a run in pieces, as text that is fit for one line
// each, for forms that other packages draw. It says what the other forms say.
type Document struct {
	Title, About, Description string
	Sets                      string // the --set overrides; "": none
	Simulated                 string // "": no figure is simulated
	Counts                    string // steps by verdict
	Unfinished                string // "": the run came to its end
	Standing                  Standing
	Machine                   []Fact
	Failures                  []FailureGroup
	Figures                   table.Table
	Differences               []table.Piece
	Named                     []table.Piece // tables that the scenario asks for, and those of its method
	GPUs                      table.Table
	Steps                     table.Table // one row a step, in the order of the run; see Row.Step
	Notes                     []string
	Notices                   []Notice // warnings, one per code, the gravest first
	Problems                  []string // damage of the folder
}

// Fact is something known, and what it is called.
type Fact struct{ Name, Value string }

// FailureGroup are steps that ended alike.
type FailureGroup struct {
	Verdict string
	Class   string // "": as the verdict says
	Message string
	Do      string   // what to do about it; "": nothing
	Steps   []string // ids
	Tail    []string // last lines of the server's log
	Log     string   // its file, relative to the run folder; "": unknown
}

// Notice is what the warnings of one code come to.
type Notice struct {
	Code     string
	Severity codes.Severity // in this run
	Count    int            // steps
	Meaning  string         // what happened
	Why      string         // why it matters
	Do       string         // what to do about it
	Messages []Message      // distinct
}

// Message is what a warning said, and of which steps.
type Message struct {
	Text  string
	Steps []string // ids
}

// NewDocument makes the report of a run.
func NewDocument(run *results.Run) *Document {
	h := headlineOf(run)
	d := &Document{
		Title: h.title, About: h.about, Description: h.description, Sets: h.sets, Simulated: h.simulated,
		Counts: h.counts, Unfinished: h.unfinished, Standing: StandingOf(run),
		Figures: grid.LayOutRun(run), Differences: slices.Concat(differenceParts(run), grid.CostParts(run)),
		Named: scenarioParts(run),
		GPUs:  grid.CompareGPUs(run), Steps: grid.StepTable(run), Notes: notes(run),
	}

	facts := versus.RunFacts(run)
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		if value := text.Clean(facts[name]); value != "" {
			d.Machine = append(d.Machine, Fact{text.Clean(name), value})
		}
	}

	for _, g := range collectFailures(run) {
		group := FailureGroup{
			Verdict: g.verdict, Message: g.words(), Do: g.do(), Steps: g.steps, Log: g.log,
			Tail: text.Tail(g.failure.LogTail, tailLines),
		}
		if g.classText() != "" {
			group.Class = string(g.failure.Class)
		}
		d.Failures = append(d.Failures, group)
	}

	for _, g := range collectWarnings(run) {
		notice := Notice{
			Code: string(g.code), Severity: g.entry.Severity, Count: g.steps, Meaning: g.entry.Meaning,
			Why: g.entry.Why,
			Do:  g.entry.Do,
		}
		for _, m := range g.messages {
			notice.Messages = append(notice.Messages, Message{m.words(), m.steps})
		}
		d.Notices = append(d.Notices, notice)
	}

	for _, problem := range run.Problems {
		d.Problems = append(d.Problems, text.Clean(problem))
	}

	return d
}

// StepText is the report of one step, as Step prints it.
func StepText(run *results.Run, id string) (string, error) {
	var out bytes.Buffer
	err := detail.Step(&out, run, id)
	return out.String(), err
}
