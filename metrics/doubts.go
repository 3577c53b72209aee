package metrics

import (
	"fmt"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// warnClientLimit names the figures that the client can have moved by as much as
// matters.
func warnClientLimit(e Evidence) *results.Warning {
	b := e.Figures.ClientAtMost
	if b == nil {
		return nil
	}

	f := e.Figures
	moved := movedFigures("TTFT", f.TTFT, b.TTFT)
	moved = append(moved, movedFigures("TPOT", f.TPOT, b.TPOT)...)
	moved = append(moved, movedFigures("ITL", f.ICL, b.ICL)...)
	moved = append(moved, movedFigures("E2EL", f.E2EL, b.E2EL)...)
	if e.Asked.RequestRate != nil {
		moved = append(moved, movedFigures("TTFT from the intended send", f.TTFTFromIntended, b.TTFTFromIntended)...)
	}
	if share := b.ThroughputShare; share != nil && *share >= movedShare && *b.TurnaroundS >= movedTurnaroundS {
		moved = append(moved, fmt.Sprintf("throughput by %.1f %%, as requests were sent %.1f ms late on average",
			100**share, 1000**b.TurnaroundS))
	}
	if moved == nil {
		return nil
	}

	const most = 4
	rest := ""
	if n := len(moved) - most; n > 0 {
		moved, rest = moved[:most], fmt.Sprintf(", and %d more", n)
	}
	return Warnf(results.WarnClientLimit, "the client may have changed %s%s", strings.Join(moved, "; "), rest)
}

// movedFigures words the figures of a latency that the bound reaches.
func movedFigures(name string, d results.Dist, b results.DistBound) []string {
	var moved []string
	note := func(what string, value *float64, f results.FigureBound) {
		if value != nil && reaches(*value, f) {
			moved = append(moved, fmt.Sprintf("%s %s (%.2f ms) by up to %.2f ms", what, name, 1000**value,
				1000**f.AtMostS))
		}
	}
	note("mean", d.Mean, b.Mean)
	note("median", d.Median, b.Median)
	for i, p := range b.Percentiles {
		if p.P != 50 && i < len(d.Percentiles) {
			note(fmt.Sprintf("p%g", p.P), d.Percentiles[i].Value, p.FigureBound)
		}
	}
	return moved
}

// reaches reports whether a bound matters for a figure: it is as large as the
// figure's own interval and as 2 % of it. A figure without an interval has too few samples
// to say anything, and is marked so.
func reaches(value float64, f results.FigureBound) bool {
	return f.AtMostS != nil && f.IntervalS != nil && *f.AtMostS >= max(movedShare*value, *f.IntervalS, movedLeastS)
}

// warnClientBusy says that the client, or an agent of it, used up its cores. Its
// figures may be right all the same: the bounds say so.
func warnClientBusy(e Evidence) *results.Warning {
	if e.Client == nil {
		return nil
	}

	var reasons []string
	for _, s := range senders(e.Client) {
		if all := e.Client.DurationS * float64(s.cpus); s.cpu != nil && all > 0 && *s.cpu > busyShare*all {
			reasons = append(reasons, fmt.Sprintf("%s used %.0f %% of %s", s.name, 100**s.cpu/all, cores(s.cpus)))
		}
	}
	if reasons == nil {
		return nil
	}
	return Warnf(results.WarnClientBusy, "%s: on the server's own machine they are taken from the server",
		strings.Join(reasons, ", and "))
}

// warnClientStarved says that threads that read had no core for longer than the
// shortest interval of interest.
func warnClientStarved(e Evidence) *results.Warning {
	if e.Client == nil || e.Client.StarvedMaxS == nil || e.Figures.E2EL.N == 0 {
		return nil // a pass without latencies has none to be wrong
	}
	shortest, name := shortestInterval(&e.Figures)
	if *e.Client.StarvedMaxS <= shortest {
		return nil
	}

	rest := ""
	if s := e.Client.CPUPressureS; s != nil && e.Client.DurationS > 0 {
		rest += fmt.Sprintf("; some program waited for a core during %.0f %% of the pass",
			min(100**s/e.Client.DurationS, 100))
	}
	if s := e.Client.StealS; s != nil && *s > 0 {
		rest += fmt.Sprintf("; the hypervisor took %.2f s", *s)
	}
	return Warnf(results.WarnClientStarved, "reading threads of the client waited for a core for up to "+
		"%.1f ms, longer than the %s of %.1f ms%s", *e.Client.StarvedMaxS*1000, name, shortest*1000, rest)
}

// warnClientPlace says that the client does not run where it should.
func warnClientPlace(e Evidence) *results.Warning {
	if e.Client == nil || e.Client.PlaceRefused == "" {
		return nil
	}
	return Warnf(results.WarnClientPlace, "reading threads of the client do not run where the scenario asks: %s",
		e.Client.PlaceRefused)
}

// shortestInterval is the shortest time, in seconds, that the figures of a pass are
// about: the median gap between chunks, but at least what makes a bound matter,
// or where there are no gaps the median time to the first token, or of a request.
func shortestInterval(f *results.Figures) (seconds float64, name string) {
	for _, d := range []struct {
		name string
		dist results.Dist
	}{{"median gap between chunks", f.ICL}, {"median TTFT", f.TTFT}, {"median E2EL", f.E2EL}} {
		if m := d.dist.Median; m != nil && *m >= movedLeastS {
			return *m, d.name
		}
	}
	return movedLeastS, "least difference that matters"
}

// Starved reports whether a step is suspect because its client had no core: one
// more pass may find it with one.
func Starved(r *results.Result) *results.Warning {
	var limited, starved *results.Warning
	for i := range r.Warnings {
		w := &r.Warnings[i]
		if w.Code == results.WarnClientLimit {
			limited = w
		}
		if w.Code == results.WarnClientStarved {
			starved = w
		}
	}
	if limited == nil {
		return nil
	}
	return starved
}

func cores(n int) string {
	if n == 1 {
		return "its core"
	}
	return fmt.Sprintf("its %d cores", n)
}

func warnBuffered(e Evidence) *results.Warning {
	share := e.Figures.BurstGaps
	if share == nil || *share < burstShare || e.Figures.ICL.N < enoughForBursts {
		return nil
	}
	return Warnf(results.WarnBuffered, "%.1f %% of the gaps between chunks are below %.1f ms: chunks arrive in "+
		"bursts, because a proxy buffers them or the server sends several at once; TTFT and ITL describe the bursts",
		100**share, shortestGapS*1000)
}

func warnAnswers(e Evidence) *results.Warning {
	a := e.Figures.Answers
	if a == nil || a.N < enoughForAnswers {
		return nil
	}

	var found []string
	note := func(n int, share float64, what string) {
		if float64(n) >= share*float64(a.N) {
			found = append(found, fmt.Sprintf("%d %s", n, what))
		}
	}

	note(a.Empty, oddAnswersShare, "are empty")
	if a.Repetitive != nil {
		note(*a.Repetitive, oddAnswersShare, "repeat one word")
	}

	note(a.Identical, sameAnswersShare, "equal another one")
	if found == nil {
		return nil
	}

	return Warnf(results.WarnAnswers, "of %s %s: check the quality of the output", text.Count(a.N, "answer"),
		strings.Join(found, ", "))
}
