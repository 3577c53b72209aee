package page

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
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
	bad, badReadings       int // lines of its records and of its telemetry that could not be read
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
		all.of[s.Result.Step.ID] = read[i]
		for _, damage := range damageOf(read[i], failed[i]) { // one damaged file does not cost the page
			all.left = append(all.left, s.Result.Step.ID+": "+damage)
		}
	}

	return all
}

// damageOf says what of a step's files could not be read.
func damageOf(p *pass, failed error) []string {
	var damage []string
	if failed != nil {
		damage = strings.Split(failed.Error(), "\n")
	}
	if p.bad > 0 {
		damage = append(damage, text.Count(p.bad, "line")+" of its records cannot be read")
	}
	if p.badReadings > 0 {
		damage = append(damage, text.Count(p.badReadings, "line")+" of its telemetry cannot be read")
	}
	return damage
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
	records := p.addRecords(traces, dir, r)
	p.keep(traces, b)
	return p, errors.Join(records, p.addReadings(dir, r, b))
}

// addRecords reads the records of a step. It returns an error if none can be read or not
// all are.
func (p *pass) addRecords(traces *curves.Traces, dir string, r *results.Result) error {
	var failed error
	for record, err := range moments.Read(dir, r.MostRecords()) {
		if errors.Is(err, store.ErrTooMany) {
			return err
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

	if traces.Requests.Total() > 0 {
		return nil
	}
	return failed
}

// addReadings reads the telemetry of a step. It returns an error if not all is read.
func (p *pass) addReadings(dir string, r *results.Result, b budget) error {
	var readings telemetry.CurveSet
	var failed error
	for sample, err := range store.AtMost(store.ReadTelemetry(dir), r.MostReadings()) {
		switch {
		case errors.Is(err, store.ErrTooMany):
			failed = fmt.Errorf("read telemetry: %w", err)
		case err != nil:
			p.badReadings++
		case sample.Node == "":
			readings.Add(&sample)
		}
	}

	p.devices = readings.Devices()
	for i := range p.devices {
		p.devices[i].Thin(b.moments)
	}
	return failed
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
