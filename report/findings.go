package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/detail"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/codes"
)

// failures are steps that ended alike: same verdict, class and words.
type failures struct {
	verdict string
	failure results.Failure
	steps   []string
	varies  bool   // the other steps have other times, processes or ports
	log     string // where the server's log is; "": unknown
}

// classText is the class behind the verdict, where it says more than that.
func (g failures) classText() string {
	if g.verdict == string(g.failure.Class) {
		return ""
	}
	return ": " + string(g.failure.Class)
}

// words is the message, which says that it is of the first step.
func (g failures) words() string {
	if g.varies {
		return text.Clean(g.failure.Message) + ofFirst
	}

	return text.Clean(g.failure.Message)
}

// do is what to do about the failure; "" where its class says nothing.
func (g failures) do() string {
	e, _ := codes.Failure(g.failure.Class)
	if e.Do == "Nothing." {
		return ""
	}

	return e.Do
}

// ofFirst says of a message for several steps whose figures it has.
const ofFirst = " (times and numbers of the first)"

// collectFailures groups the steps without a usable verdict, worst first.
func collectFailures(run *results.Run) []failures {
	var groups []failures
	for i := range run.Steps {
		s := &run.Steps[i]
		if s.Result.Verdict == results.OK || s.Result.Verdict == results.Suspect {
			continue
		}
		f := results.Failure{Class: results.FailInternal, Message: "no reason is recorded"}
		if s.Result.Failure != nil {
			f = *s.Result.Failure
		}
		verdict := grid.ShortVerdict(s)
		at := slices.IndexFunc(groups, func(g failures) bool {
			return g.verdict == verdict && g.failure.Class == f.Class && text.Alike(g.failure.Message, f.Message)
		})
		if at < 0 {
			at = len(groups)
			groups = append(groups, failures{verdict: verdict, failure: f, log: detail.LogOf(run, s.Result)})
		}
		groups[at].varies = groups[at].varies || groups[at].failure.Message != f.Message
		groups[at].steps = append(groups[at].steps, s.Result.Step.ID)
	}

	order := []string{string(results.Failed), grid.Interrupted, string(results.NotRun)}
	slices.SortStableFunc(groups, func(a, b failures) int {
		return cmp.Compare(slices.Index(order, a.verdict), slices.Index(order, b.verdict))
	})

	return groups
}

// explain is the entry of a code; one that the catalogue lacks limits figures.
func explain(code results.WarningCode) codes.Entry {
	if e, ok := codes.Warning(code); ok {
		return e
	}

	return codes.Entry{Code: string(code), Severity: codes.Limits}
}

// bySeverity puts what disqualifies first and what informs last.
func bySeverity(groups []doubts) []doubts {
	order := []codes.Severity{codes.Fails, codes.Disqualifies, codes.Limits, codes.Informs}
	slices.SortStableFunc(groups, func(a, b doubts) int {
		return cmp.Compare(slices.Index(order, a.entry.Severity), slices.Index(order, b.entry.Severity))
	})

	return groups
}

// shown is how many of the messages the overview quotes.
func (d doubts) shown() int {
	if d.code == results.WarnFewSamples {
		return 1 // the table marks every figure that it is about
	}

	return 3
}

// severityText is "disqualifies 3 steps".
func (d doubts) severityText() string {
	return string(d.entry.Severity) + " " + text.Count(d.steps, "step")
}

// doubts are warnings of one code.
type doubts struct {
	code     results.WarningCode
	entry    codes.Entry // its severity in this run, what it means, what to do
	steps    int
	messages []message // distinct, as they appear
}

// message is what a warning said, and of which steps.
type message struct {
	text   string // of the first step; measured fractions are ranges over all
	steps  []string
	varies bool // the other steps have other times
}

// words is the text, which says whose times it has.
func (m message) words() string {
	if m.varies {
		return text.Clean(m.text) + ofFirst
	}

	return text.Clean(m.text)
}

// fewSamples stands for all warnings of that kind: the table marks the
// percentiles that they are about.
const fewSamples = "some percentiles have too few samples: marked ~ in the table, listed in the step reports"

// collectWarnings groups the warnings of all steps by code and words. That
// figures are simulated is said louder elsewhere. Failed steps have no figures
// to doubt; what was foreseen of them says why they failed.
func collectWarnings(run *results.Run) []doubts {
	return collectWarningsOf(run, func(*results.Result, results.Warning) bool { return true })
}

// collectSuspicions are the warnings that make steps suspect.
func collectSuspicions(run *results.Run) []doubts { return collectWarningsOf(run, isSuspicion) }

// collectOther are the warnings that do not.
func collectOther(run *results.Run) []doubts {
	return collectWarningsOf(run, func(r *results.Result, w results.Warning) bool { return !isSuspicion(r, w) })
}

func isSuspicion(r *results.Result, w results.Warning) bool {
	return r.Verdict == results.Suspect && slices.Contains(metrics.Doubts(r), w)
}

// collectWarningsOf groups the picked warnings.
func collectWarningsOf(run *results.Run, pick func(*results.Result, results.Warning) bool) []doubts {
	var groups []doubts
	groupOf := func(code results.WarningCode) *doubts {
		at := slices.IndexFunc(groups, func(d doubts) bool { return d.code == code })
		if at < 0 {
			at = len(groups)
			groups = append(groups, doubts{code: code, entry: explain(code)})
		}
		return &groups[at]
	}

	for _, s := range run.Steps {
		for _, w := range s.Result.Warnings {
			foreseen := w.Code == results.WarnContext || w.Code == results.WarnFewSlots
			if s.Result.Verdict == results.Failed && !foreseen || !pick(s.Result, w) {
				continue
			}
			switch w.Code {
			case results.WarnSimulated:
				continue
			case results.WarnFewSamples:
				w.Message = fewSamples
			default:
			}
			group := groupOf(w.Code)
			if isSuspicion(s.Result, w) {
				group.entry.Severity = codes.Disqualifies
			}
			group.add(w.Message, s.Result.Step.ID)
		}
	}

	for i, g := range groups {
		if g.code == results.WarnFewSamples {
			groups[i].messages[0].text += mostUnknown(run)
		}
	}

	for _, f := range versus.EqualOutputs(run.Steps) {
		if pick(f.Result, f.Warning) {
			groupOf(f.Warning.Code).add(f.Warning.Message, f.Result.Step.ID)
		}
	}

	return bySeverity(groups)
}

// mostUnknown names the percentile that needs most requests until anything is known of
// it with confidence; "": there is none.
func mostUnknown(run *results.Run) string {
	var most results.UpperBound
	var step string
	for _, s := range run.Steps {
		if f := s.Result.Figures; f != nil {
			for _, b := range f.UpperBounds {
				if b.MoreRequests > most.MoreRequests {
					most, step = b, s.Result.Step.ID
				}
			}
		}
	}
	if step == "" {
		return ""
	}

	return fmt.Sprintf("; %s %s of %s is not yet known at 95 %%: %d more requests", metrics.PercentileName(most.P),
		strings.ToUpper(most.Latency), text.Clean(step), most.MoreRequests)
}

func (d *doubts) add(words, step string) {
	if !slices.ContainsFunc(d.messages, func(m message) bool { return slices.Contains(m.steps, step) }) {
		d.steps++
	}
	for i, m := range d.messages {
		if merged, ok := text.Ranges(m.text, words); ok {
			d.messages[i].text, d.messages[i].steps = merged, append(m.steps, step)
			return
		}
	}

	at := slices.IndexFunc(d.messages, func(m message) bool { return text.Alike(m.text, words) })
	if at < 0 {
		at = len(d.messages)
		d.messages = append(d.messages, message{text: words})
	}
	d.messages[at].varies = d.messages[at].varies || d.messages[at].text != words
	d.messages[at].steps = append(d.messages[at].steps, step)
}
