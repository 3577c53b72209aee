package live

import (
	"fmt"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// stepName is a step as it is called in lines: "tp8 c8 r1".
func stepName(r results.StepRef) string {
	return fmt.Sprintf("%s %s r%d", r.Variant, r.Point, r.Repeat)
}

// nowOf puts what a run does into words.
func nowOf(l results.Live) *Now {
	n := &Now{Life: l.Life, Phase: phaseWords(l), Share: l.Share, Message: printable(l.Message), EndSoon: l.EndSoon}
	if l.Step != nil {
		n.Step, n.StepID = stepName(*l.Step), l.Step.ID
		if l.Step.Attempt > 1 {
			n.Step += fmt.Sprintf(", attempt %d", l.Step.Attempt)
		}
		if l.Pass > 1 {
			n.Step += fmt.Sprintf(", pass %d", l.Pass)
		}
	}

	if l.Phase == results.LiveLaunching {
		n.Steps = l.Steps
	}

	n.Time = timeWords(l)
	if r := l.Requests; r != nil {
		n.Requests = fmt.Sprintf("%d%s requests, %d in flight, %d failed", r.Done, ofTotal(r.Total), r.InFlight,
			r.Failed)
	}

	if t := l.Tokens; t != nil {
		n.Tokens = fmt.Sprintf("%s tok/s over the last %d s", number(t.PerS), results.LiveWindowS)
		n.Latency = "TTFT " + latency(t.TTFT) + "   TPOT " + latency(t.TPOT)
	}

	if s := l.Server; s != nil {
		n.Server = fmt.Sprintf("KV cache %s   running %s   queue %s", text.Percent(s.KVUse),
			text.Number(s.Running, 1, 0),
			text.Number(s.Waiting, 1, 0))
		if s.AgeS > silence.Seconds() {
			n.Server += fmt.Sprintf("   (%s old)", text.Lasting(s.AgeS))
		}
	}

	return n
}

func ofTotal(total *int) string {
	if total == nil {
		return ""
	}
	return fmt.Sprintf("/%d", *total)
}

// latency is a latency so far: of those requests that have ended.
func latency(t results.LiveTimes) string {
	if t.N == 0 {
		return unknown
	}
	text := "p50 " + milli(t.P50)
	if t.P99 != nil {
		text += ", p99 " + milli(t.P99)
	}
	return text
}

func phaseWords(l results.Live) string {
	switch l.Phase {
	case results.LiveStarting:
		return "checking the machine"
	case results.LiveHooks:
		return "running a hook"
	case results.LiveIdle:
		return "reading idle GPUs"
	case results.LiveLaunching:
		return "launching"
	case results.LivePrompts:
		return "preparing prompts"
	case results.LiveSettling:
		return "waiting for idle GPUs"
	case results.LiveWarmUp:
		return "warming up"
	case results.LiveMeasuring:
		return "measuring"
	case results.LiveFinishing:
		return "computing figures"
	case results.LiveStopping:
		return "stopping servers and verifying that they are gone"
	case results.LiveEnding:
		return "finishing the run"
	}

	return string(l.Phase)
}

// timeWords say how long a phase has lasted and what is known of its end.
func timeWords(l results.Live) string {
	parts := []string{text.Lasting(l.PhaseS)}
	switch {
	case l.Phase == results.LiveMeasuring && l.LeftS != nil:
		parts = append(parts, about(*l.LeftS)+" left")
	case l.Phase == results.LiveMeasuring:
		parts = append(parts, "time left unknown")
	case l.UsualS != nil:
		parts = append(parts, "last time "+text.Lasting(*l.UsualS))
	case l.Phase == results.LiveLaunching:
		parts = append(parts, "no earlier launch to estimate from")
	}

	if l.LimitS != nil && l.Phase != results.LiveMeasuring {
		parts = append(parts, "times out after "+text.Lasting(*l.LimitS))
	}

	return strings.Join(parts, ", ")
}

// gpusOf puts readings into words. What was not read lately is not shown.
func gpusOf(l results.Live) []GPU {
	var all []GPU
	for _, g := range l.GPUs {
		one := GPU{
			Name: fmt.Sprintf("GPU %d", g.Index), VRAM: text.Gibibytes(g.VRAMUsed) + "/" + text.Gibibytes(g.VRAMTotal) +
				" GiB",
			Power: text.Number(g.PowerW, 1, 0), Temp: text.Number(g.HottestC, 1, 0) + " C", Busy: text.Percent(g.Busy),
		}
		if g.PowerLimitW != nil {
			one.Power += "/" + text.Number(g.PowerLimitW, 1, 0)
		}
		one.Power += " W"
		if len(g.Throttle) > 0 {
			one.Note = strings.Join(g.Throttle, ", ")
		}
		if g.VRAMUsed == nil && g.PowerW == nil && g.Busy == nil {
			one.Note = "no reading"
		}
		all = append(all, one)
	}

	return all
}

// Brief is a step's outcome in a line, with what is known of its figures.
func (s Step) Brief() string {
	text := stepName(s.StepRef) + ": " + string(s.State)
	if s.Attempt > 1 {
		text += fmt.Sprintf(" (attempt %d)", s.Attempt)
	}

	if s.Asked > 0 {
		text += fmt.Sprintf(", %d/%d requests", s.Completed, s.Asked)
	}

	if s.TokensPerS != nil {
		text += ", " + number(s.TokensPerS) + " tok/s"
	}

	if s.TTFTS != nil {
		text += ", TTFT p50 " + milli(s.TTFTS)
	}

	if s.TPOTS != nil {
		text += ", TPOT p50 " + milli(s.TPOTS)
	}

	if s.Why != "" {
		text += "; " + printable(s.Why)
	}

	return text
}

func variantOf(r *results.StepRef) string {
	if r == nil {
		return ""
	}
	return r.Variant
}

// Line is what a run does in one line.
func Line(l results.Live) string { return nowLine(View{Now: nowOf(l)}) }

// LeftOf is what the whole run needs further, with a separator before it; "":
// not known.
func LeftOf(l results.Live) string {
	if l.RunS == nil {
		return ""
	}
	return "; the run has " + about(*l.RunS) + " left"
}
