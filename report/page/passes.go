package page

import (
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/curves"
	"github.com/benchrig/bench/metrics/telemetry"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/results/store/moments"
)

// budget is how much of a step the page may show, so that a page of many steps
// still opens at once.
type budget struct {
	requests int  // rows of the timeline of requests
	moments  int  // of a curve
	logLines int  // of a sound step; others have as many as were kept
	text     bool // the step as the terminal's report prints it
}

// manySteps is from where on a sound step is shown without its text and log.
const manySteps = 150

// budgetFor shares a few megabytes among the steps.
func budgetFor(steps int) budget {
	share := func(all, least, most int) int { return min(max(all/max(steps, 1), least), most) }
	b := budget{
		requests: share(8000, 16, curves.MaxRequestRows), moments: share(20_000, 40, 600),
		logLines: share(2000, 10, 40), text: steps <= manySteps,
	}
	if !b.text {
		b.logLines = 0
	}
	return b
}

// pass is what is drawn of a step's measured pass.
type pass struct {
	requests               []curves.RequestSpan // chosen among all; empty: it left no records
	total                  int                  // requests that they were chosen from
	ttft, tpot, icl, e2el  curves.Sketch
	inFlight, tokensInHand []curves.Level
	devices                []telemetry.DeviceCurves
	bad                    int // lines of its records that could not be read
}

// passes are those of all steps, by their ids.
type passes struct {
	of   map[string]*pass
	left []string
	budget
}

// readPasses walks once through the records and the telemetry of every step,
// several steps at a time. What it keeps of one does not grow with its
// requests.
func readPasses(run *results.Run, b budget) *passes {
	all := &passes{of: make(map[string]*pass, len(run.Steps)), budget: b}
	folder, err := store.Open(run.Dir)
	if err != nil { // a run that is in no folder has no records either
		return all
	}

	read := make([]*pass, len(run.Steps))
	failed := make([]error, len(run.Steps))
	var wait sync.WaitGroup
	turns := make(chan struct{}, max(runtime.GOMAXPROCS(0), 1))
	for i, s := range run.Steps {
		wait.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			read[i], failed[i] = readPass(folder.StepDir(s.Result.Step.ID), s.Result, b)
		})
	}

	wait.Wait()
	for i, s := range run.Steps {
		if failed[i] != nil { // one damaged file does not cost the page
			all.left = append(all.left, fmt.Sprintf("%s: %v", s.Result.Step.ID, failed[i]))
		}
		all.of[s.Result.Step.ID] = read[i]
		if read[i].bad > 0 {
			all.left = append(all.left, fmt.Sprintf("%s: %s of its records cannot be read", s.Result.Step.ID,
				text.Count(read[i].bad, "line")))
		}
	}

	return all
}

func readPass(dir string, r *results.Result, b budget) (*pass, error) {
	p := &pass{}
	duration := 0.0
	if r.Client != nil {
		duration = r.Client.DurationS
	} else if r.Figures != nil {
		duration = r.Figures.DurationS
	}

	traces := curves.NewTraces(duration)
	lines, most := 0, r.MostRecords()
	var failed, tooMany error
	for record, err := range moments.Read(dir) {
		if lines++; lines > most {
			tooMany = fmt.Errorf("it has far more records than its %s counts; those after %d were not read",
				results.ResultName, most)
			break
		}
		if err != nil {
			p.bad++
			failed = err
			continue
		}
		if r.Asked.RequestRate == nil && record.SentS != nil {
			record.IntendedS = *record.SentS // all were wanted at once: nobody waited for a turn that the load gives
		}
		traces.Add(record)
	}

	p.keep(traces, b)
	var readings telemetry.CurveSet
	for sample, err := range store.ReadTelemetry(dir) {
		if err == nil && sample.Node == "" {
			readings.Add(&sample)
		}
	}

	p.devices = readings.Devices()
	for i := range p.devices {
		p.devices[i].Thin(b.moments)
	}

	if tooMany == nil && p.total == 0 {
		return p, failed
	}

	return p, tooMany
}

// keep takes from the traces of a pass what is drawn.
func (p *pass) keep(t *curves.Traces, b budget) {
	p.total = t.Requests.Total()
	if p.total == 0 {
		return
	}
	p.ttft, p.tpot, p.icl, p.e2el = t.TTFT, t.TPOT, t.ICL, t.E2EL
	p.requests = slices.Clip(curves.ThinRequests(t.Requests.Rows(), b.requests))
	p.inFlight, p.tokensInHand = curves.ThinLevels(t.InFlight.Requests(), b.moments),
		curves.ThinLevels(t.InFlight.Tokens(), b.moments)
}
