package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// RunState is how a run as a whole stands.
type RunState string

// The states of a run.
const (
	RunActive  RunState = "running"
	RunWaits   RunState = "waiting"     // for jobs of a cluster, none of which runs
	RunSilent  RunState = "silent"      // its process is there and says nothing
	RunDead    RunState = "dead"        // unfinished, and nobody carries it out
	RunEnded   RunState = "ended"       // with all steps of its plan
	RunStopped RunState = "ended early" // see Board.Ended
)

// IsOver reports whether nothing will come any more, unless the run is resumed.
func (s RunState) IsOver() bool { return s == RunEnded || s == RunStopped || s == RunDead }

// silence is how old the last sign of life of a run may be.
const silence = 10 * time.Second

// Presence is what is known of the process that carries a run out.
type Presence struct {
	Now   time.Time
	Held  bool // somebody holds the folder's lock on this machine
	Known bool // whether that is known

	Jobs *Jobs // of a run on a cluster; nil: the cluster was not asked
}

// Jobs counts the jobs of a run that a cluster has.
type Jobs struct {
	Queued, Running int
	Waiting         []string // why jobs wait
	Err             error    // the cluster gave no answer
}

// words are those of a run whose jobs were asked for. open is the number of steps
// without a verdict.
func (j Jobs) words(open int, ago string) (RunState, string) {
	waiting := ""
	if j.Queued > 0 {
		waiting = fmt.Sprintf("%s queued (%s)", text.Count(j.Queued, "job"), strings.Join(j.Waiting, ", "))
	}

	switch {
	case j.Err != nil:
		return RunWaits, fmt.Sprintf("unknown, last sign %s: %v", ago, j.Err)
	case j.Running > 0 && j.Queued > 0:
		return RunActive, fmt.Sprintf("running: %s, %s", text.Count(j.Running, "job"), waiting)
	case j.Running > 0:
		return RunActive, "running: " + text.Count(j.Running, "job")
	case j.Queued > 0:
		return RunWaits, "queued: " + waiting
	case open > 0:
		return RunDead, fmt.Sprintf("ended: no job is left, and %s without a verdict; to go on: bench resume",
			text.Count(open, "step"))
	}
	return RunEnded, "ended"
}

// View is all that is shown of a run at one moment, in words.
type View struct {
	Name      string // of the scenario
	RunID     string
	Dir       string
	Simulated bool
	State     RunState
	StateText string
	Ended     *results.Failure // why the run ended before its plan; null: it did not
	Counts    map[StepState]int
	Total     int    // steps that are needed, or can be
	Left      string // of the run, in words
	Columns   []string
	Rows      []Row
	Repeats   int // the most that a cell has

	Now   *Now
	Also  []string // what other jobs do
	GPUs  []GPU
	Log   []string
	LogOf string // the file's path below the folder

	Live  *results.Live // what Now is made of; nil: nobody says anything
	Steps []Step
}

// Row is a variant with its steps by column.
type Row struct {
	Variant string
	Cells   [][]Step
}

// Now is what is done at this moment.
type Now struct {
	Step     string // "tp8 c8 r1"; "": none
	StepID   string
	Life     string
	Steps    int // that a launch is for; 0: none is under way
	Phase    string
	Time     string // how long, and what is left of it
	Share    *float64
	Message  string
	Requests string // "": none are sent
	Tokens   string
	Latency  string
	Server   string
	EndSoon  bool
}

// GPU is one GPU in words.
type GPU struct {
	Name, VRAM, Power, Temp, Busy, Note string
}

// makeView puts a run into words. It looks at nothing but its arguments.
func makeView(b *Board, dir string, lives []results.Live, p Presence) View {
	m := b.Manifest
	v := View{Name: m.Scenario, RunID: m.Run, Dir: dir, Simulated: m.Simulated, Counts: map[StepState]int{}}
	v.Ended = b.Ended
	fresh := freshest(lives, p.Now)
	v.State, v.StateText = stateOfRun(b, lives, fresh, p)
	v.Steps = slices.Clone(b.Steps)
	for i := range v.Steps {
		s := &v.Steps[i]
		if s.State == Running && v.State != RunActive && v.State != RunSilent {
			s.State, s.Why = NotRun, "interrupted: the run ended during this step"
		}
		v.Counts[s.State]++
	}

	if m.MostSteps > 0 {
		v.countAtMost(m.MostSteps)
	}
	for state, n := range v.Counts {
		if state != NotNeeded {
			v.Total += n
		}
	}

	v.matrix(b)
	if len(fresh) == 0 || v.State == RunEnded || v.State == RunStopped {
		return v
	}

	v.Live = &fresh[0]
	v.Now, v.GPUs = nowOf(fresh[0]), gpusOf(fresh[0])
	if v.State != RunActive {
		v.Now.Phase, v.Now.Time, v.GPUs = "was "+v.Now.Phase, "at the last sign of life", nil
	}

	v.LogOf = fresh[0].LogOf
	for _, line := range fresh[0].LogTail {
		v.Log = append(v.Log, printable(line))
	}

	if fresh[0].RunS != nil && len(m.Groups) == 0 && v.State == RunActive {
		v.Left = leftWords(fresh[0], p.Now)
	}

	for _, other := range fresh[1:] {
		n := nowOf(other)
		v.Also = append(v.Also, strings.TrimSpace(fmt.Sprintf("%s: %s %s", other.Node, n.Step, n.Phase)))
	}

	return v
}

// countAtMost counts no more steps than can be needed, whatever comes out: most planned
// steps of a tuning or a bisection never can. Which ones is not known before the end.
func (v *View) countAtMost(most int) {
	room := most
	for state, n := range v.Counts {
		if state != Pending && state != NotNeeded {
			room -= n
		}
	}

	for _, state := range []StepState{Pending, NotNeeded} {
		v.Counts[state] = min(v.Counts[state], max(room, 0))
		room -= v.Counts[state]
	}
}

// matrix sorts the steps into rows and columns.
func (v *View) matrix(b *Board) {
	variants, points := b.axes()
	v.Columns = points
	for _, variant := range variants {
		row := Row{Variant: variant, Cells: make([][]Step, len(points))}
		for _, s := range v.Steps {
			if s.Variant == variant {
				i := slices.Index(points, s.Point)
				row.Cells[i] = append(row.Cells[i], s)
				v.Repeats = max(v.Repeats, len(row.Cells[i]))
			}
		}
		v.Rows = append(v.Rows, row)
	}
}

// freshest are the lives that said something of late, the newest first; the
// newest alone where none did.
func freshest(lives []results.Live, now time.Time) []results.Live {
	all := slices.Clone(lives)
	slices.SortStableFunc(all, func(a, b results.Live) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	for i := range all {
		if i > 0 && now.Sub(all[i].UpdatedAt) > silence {
			return all[:i]
		}
	}
	return all
}

func stateOfRun(b *Board, lives, fresh []results.Live, p Presence) (RunState, string) {
	speaks := len(fresh) > 0 && p.Now.Sub(fresh[0].UpdatedAt) <= silence
	last := b.Last
	if len(fresh) > 0 && fresh[0].UpdatedAt.After(last) {
		last = fresh[0].UpdatedAt
	}

	ago := "never"
	if !last.IsZero() {
		ago = text.Lasting(p.Now.Sub(last).Seconds()) + " ago"
	}

	if p.Jobs != nil {
		return p.Jobs.words(b.open(), ago)
	}

	switch {
	case b.Finished && b.Ended != nil && !speaks:
		return RunStopped, "ended early: " + b.Ended.Error()
	case b.Finished && !speaks:
		return RunEnded, "ended"
	case speaks && len(lives) > 0:
		return RunActive, "running for " + text.Lasting(fresh[0].RunForS)
	case p.Held && len(fresh) == 0:
		return RunActive, "running"
	case p.Held:
		return RunSilent, "the process is alive but silent for " +
			text.Lasting(p.Now.Sub(fresh[0].UpdatedAt).Seconds())
	case len(b.Manifest.Groups) > 0:
		return RunWaits, "no job is running; last sign " + ago
	case !p.Known:
		return RunDead, "no sign of life; last sign " + ago
	}

	return RunDead, "dead: no process runs it; last sign " + ago
}

func leftWords(l results.Live, now time.Time) string {
	most := ""
	if l.AtMost {
		most = "at most "
	}

	text := most + about(*l.RunS) + " left"
	if most == "" && *l.RunS >= 60 {
		text = "about " + text
	}
	if *l.RunS >= 60 {
		text += ", till " + now.Add(time.Duration(*l.RunS*float64(time.Second))).Format("15:04")
	}
	if l.LeftBy == results.LeftByPlan {
		text += " (as planned)"
	}

	return text
}
