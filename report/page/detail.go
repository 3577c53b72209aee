package page

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/llamabench"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/report"
	"github.com/benchrig/bench/report/detail"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// stepDetail is all that the page shows of one step.
type stepDetail struct {
	Link, Name, About string
	Verdict, Class    string
	Simulated         bool
	Headline          string // its main figures in one line
	Failure           string
	Earlier           []string
	Warnings          []report.Fact
	Changes           []string
	Latencies         []latency
	Tests             []report.Fact // of llama-bench
	Charts            []*figure
	Startup           []serverStart
	Commands          []detail.Command
	Hooks             []report.Fact
	Log               string // its last lines
	LogName           string
	Asked             []report.Fact
	Body              string // of one request
	Text              string // the step as "bench report --step" prints it
}

// latency is a row of the step's table of latencies.
type latency struct {
	Name                    string
	N                       int
	Mean, Median, High, Max string
	Tail                    string // the percentile of High
	Thin                    bool   // too few samples for it
}

// serverStart says how long the phases of a server's start took.
type serverStart struct {
	Server string
	Rungs  []report.Fact // of the readiness ladder, after the spawn
	Phases []report.Fact // as its log says
}

func detailsOf(run *results.Run, p *passes, links map[string]string) ([]*stepDetail, error) {
	logs := newLogs(run, p.logLines)
	all := make([]*stepDetail, len(run.Steps))
	for i := range run.Steps {
		d, err := detailOf(run, &run.Steps[i], p, logs)
		if err != nil {
			return nil, err
		}
		d.Link = links[run.Steps[i].Result.Step.ID]
		all[i] = d
	}
	return all, nil
}

func detailOf(run *results.Run, s *results.Step, p *passes, logs *logs) (*stepDetail, error) {
	r := s.Result
	class := verdictClass(s)
	d := &stepDetail{
		Name: text.Clean(r.Step.ID), Verdict: class, Class: strings.ReplaceAll(class, " ", "-"), Simulated: r.Simulated,
		About: fmt.Sprintf("variant %s, point %s, repeat %d, attempt %d", text.Clean(r.Step.Variant),
			text.Clean(r.Step.Point), r.Step.Repeat, r.Step.Attempt),
		Headline: headlineOf(r), Latencies: latenciesOf(r), Startup: startsOf(r), Commands: detail.CommandsOf(r),
		Asked: askedOf(r.Asked), Body: text.CleanLines(r.Asked.Body),
	}

	if r.Failure != nil {
		d.Failure = text.Clean(r.Failure.Error())
	}

	settings := catalog.TestSettings(r.LlamaBench)
	for _, row := range r.LlamaBench {
		d.Tests = append(d.Tests, report.Fact{
			Name: text.Clean(catalog.TestText(row.Test, settings(row), row.Model)),
			Value: fmt.Sprintf("%s tok/s over %s", llamabench.SpeedText(row),
				text.Count(len(row.SamplesS), "repetition")),
		})
	}

	for _, m := range r.Measures {
		d.Tests = append(d.Tests, report.Fact{
			Name:  text.Clean(m.Title),
			Value: fmt.Sprintf("%s %s, n = %d", table.Number(m.Value, 3), text.Clean(m.Unit), m.N),
		})
	}

	for i, f := range r.Earlier {
		d.Earlier = append(d.Earlier, fmt.Sprintf("attempt %d: %s", i+1, text.Clean(f.Error())))
	}

	for _, w := range r.Warnings {
		d.Warnings = append(d.Warnings, report.Fact{Name: text.Clean(string(w.Code)), Value: text.Clean(w.Message)})
	}

	for _, c := range r.Changes {
		d.Changes = append(d.Changes, text.Clean(c))
	}

	for _, h := range r.Hooks {
		outcome := "ok"
		if !h.OK {
			outcome = "FAILED"
		}
		d.Hooks = append(d.Hooks, report.Fact{
			Name:  text.Clean(h.When + " " + h.Level + ", " + h.Name),
			Value: text.Clean(fmt.Sprintf("%s, %.1f s %s", outcome, h.TookS, h.Message)),
		})
	}

	d.LogName, d.Log = logs.of(r)
	var err error
	if d.Charts, err = chartsOf(r, p.of[r.Step.ID]); err != nil {
		return nil, err
	}

	if p.text || class != string(results.OK) {
		d.Text, err = report.StepText(run, r.Step.ID)
		d.Text = text.CleanLines(strings.TrimRight(d.Text, "\n"))
	}

	return d, err
}

// headlineOf are the figures of a step in one line, or why it has none to be
// shown beside those of others.
func headlineOf(r *results.Result) string {
	f := r.Headline()
	if r.Failure != nil && r.Verdict != results.OK && r.Verdict != results.Suspect {
		return text.Clean(r.Failure.Error())
	}
	if f == nil {
		if r.OfProgram() {
			return text.Count(len(r.LlamaBench)+len(r.Measures), "figure")
		}
		return ""
	}

	parts := []string{fmt.Sprintf("%d of %s in %s s", f.Completed, text.Count(f.Asked, "request"), short(f.DurationS))}
	if f.OutputThroughput != nil {
		parts = append(parts, short(*f.OutputThroughput)+" output tok/s")
	}

	if f.TTFT.Median != nil {
		parts = append(parts, "median TTFT "+short(1000**f.TTFT.Median)+" ms")
	}

	if f.TPOT.Median != nil {
		parts = append(parts, "median TPOT "+short(1000**f.TPOT.Median)+" ms")
	}

	return strings.Join(parts, ", ")
}

// gapsName stands for ITL where chunks carry several tokens.
const gapsName = "Gaps between chunks"

func latenciesOf(r *results.Result) []latency {
	f := r.Figures
	if f == nil {
		return nil
	}

	var rows []latency
	p := metrics.TailOf(f.E2EL)
	for _, q := range []struct {
		name string
		dist results.Dist
		rate bool // means something only where requests have times of their own
	}{
		{"TTFT", f.TTFT, false},
		{"TPOT", f.TPOT, false},
		{"ITL", f.ITL, false},
		{gapsName, f.ICL, false},
		{"E2EL", f.E2EL, false},
		{"TTFT from intended send", f.TTFTFromIntended, true},
		{"E2EL from intended send", f.E2ELFromIntended, true},
	} {
		if q.dist.N == 0 || q.name == gapsName && f.ITL.N > 0 || q.rate && r.Asked.RequestRate == nil {
			continue
		}
		rows = append(rows, latency{
			Name: q.name, N: q.dist.N, Mean: table.Milliseconds(q.dist.Mean), Median: table.Milliseconds(q.dist.Median),
			High: table.Milliseconds(metrics.At(q.dist, p)), Tail: metrics.PercentileName(p),
			Max: table.Milliseconds(q.dist.Max), Thin: q.dist.N < metrics.SamplesFor(p),
		})
	}

	return rows
}

func startsOf(r *results.Result) []serverStart {
	var all []serverStart
	for _, s := range r.Servers {
		start := serverStart{Server: fmt.Sprintf("Server %d, %s", s.Replica, text.Clean(cmp.Or(s.Life, s.Launcher)))}
		for _, phase := range s.ReadyPhases {
			start.Rungs = append(start.Rungs,
				report.Fact{Name: text.Clean(phase.Name), Value: fmt.Sprintf("%.1f s", phase.AtS)})
		}
		if s.Startup != nil {
			for _, phase := range s.Startup.Phases {
				start.Phases = append(start.Phases,
					report.Fact{Name: text.Clean(phase.Name), Value: fmt.Sprintf("%.1f s", phase.Seconds)})
			}
		}
		if start.Rungs != nil || start.Phases != nil {
			all = append(all, start)
		}
	}

	return all
}

// askedOf is the load that was asked for.
func askedOf(a results.Asked) []report.Fact {
	if a.API == "" {
		return nil
	}

	var facts []report.Fact
	add := func(name, value string) {
		if value = text.Clean(value); value != "" {
			facts = append(facts, report.Fact{Name: name, Value: value})
		}
	}

	number := func(v *int) string {
		if v == nil {
			return ""
		}
		return strconv.Itoa(*v)
	}

	real := func(v *float64, unit string) string {
		if v == nil {
			return ""
		}
		return strings.TrimSpace(strconv.FormatFloat(*v, 'g', -1, 64) + " " + unit)
	}

	add("Endpoint", a.Endpoint+" ("+a.API+")")
	add("Dataset", strings.TrimSpace(a.Dataset+" "+a.DatasetPath))
	add("Prompts", strconv.Itoa(a.NumPrompts)+", seed "+strconv.FormatUint(a.Seed, 10))
	add("Prompts' sha256", a.DatasetSHA256)
	add("Input tokens", number(a.InputLen))
	add("Output tokens", number(a.OutputLen))
	add("Ignore EOS", map[bool]string{true: "yes"}[a.IgnoreEOS])
	add("Max concurrency", cmp.Or(number(a.MaxConcurrency), "no cap"))
	rate := cmp.Or(real(a.RequestRate, "requests/s"), "all at once")
	if a.ReplaySpeed != nil {
		rate = "recorded times, speed " + real(a.ReplaySpeed, "")
	}
	add("Request rate", rate)
	add("Burstiness", real(a.Burstiness, ""))
	add("Sending ended after", real(a.SendForS, "s"))
	add("Temperature", real(a.Temperature, ""))
	add("Warm-up requests", strconv.Itoa(a.Warmups))
	add("Tokenizer", a.Tokenizer)
	add("As sent by", a.Compat)

	return facts
}
