package status

import (
	"time"

	"github.com/benchrig/bench/results"
)

// SetOutlook takes in an outlook.
func (l *Live) SetOutlook(step, rest float64, measured, atMost bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expect, l.rest, l.now.LeftBy, l.now.AtMost = step, rest, results.LeftByPlan, atMost
	if measured {
		l.now.LeftBy = results.LeftByRun
	}
}

// fillLeft fills in what is left; the caller holds the mutex.
func (l *Live) fillLeft(now *results.Live, at time.Time) {
	left := 0.0
	switch {
	case !l.step.IsZero():
		took := at.Sub(l.step).Seconds()
		now.StepS = &took
		left = max(0, l.expect-took)
		if by := l.pass.left(at); by != nil {
			left = *by
		}
		if left > 0 { // else it takes longer than expected: not known
			now.LeftS = new(left)
		}
	case now.Phase == results.LiveLaunching:
		left = max(0, l.expect-now.PhaseS)
	}

	if l.rest+l.expect > 0 {
		now.RunS = new(max(0, left+l.rest))
	}
}

// left is what the pass needs further, by its progress; null before a part of
// it is done.
func (p *livePass) left(at time.Time) *float64 {
	if !p.on {
		return nil
	}
	passed := at.Sub(p.began).Seconds()
	done := p.progress.Completed + p.progress.Failed
	switch {
	case p.sendFor > 0:
		return new(max(0, p.sendFor.Seconds()-passed))
	case p.progress.Total > 0 && done > 0 && done >= p.progress.InFlight:
		return new(passed / float64(done) * float64(p.progress.Total-done))
	}
	return nil
}
