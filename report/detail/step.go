package detail

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// Step prints all that is known of one step: verdict, failure with the whole of
// the kept log, warnings, load, servers, and its result block.
func Step(w io.Writer, run *results.Run, id string) error {
	s := run.Step(id)
	if s == nil {
		return fmt.Errorf("report step %q: the run has no such step; it has %s", id, text.Few(stepIDs(run)))
	}

	p := table.NewPrinter(table.Options{})
	r := s.Result
	p.Line(p.Bold("step " + text.Clean(r.Step.ID)))
	p.Line(fmt.Sprintf("%s, run %s, variant %s, point %s, repeat %d, attempt %d",
		text.Clean(r.Scenario), text.Clean(r.Run), text.Clean(r.Step.Variant), text.Clean(r.Step.Point), r.Step.Repeat,
		r.Step.Attempt))
	if r.Simulated {
		p.Line(p.Loud(grid.SimulatedLine))
	}

	if text := extrapolatedLine(r); text != "" {
		p.Wrapped("", p.Loud(text))
	}

	p.Line("verdict: " + grid.VerdictName(s))
	printStepFailures(p, run, r)
	printWarnings(p, r.Warnings)

	printChanges(p, r)
	if !r.MeasuredByBench() {
		printImported(p, r)
	} else {
		printLoad(p, r)
		printServers(p, r.Servers)
	}

	printCache(p, r.Cache)
	printResent(p, r.Resent)
	printEvaluation(p, r.Evaluation)
	printCommandScore(p, r.CommandScore)
	if r.Figures != nil {
		p.Line("")
		if err := Block(p, r); err != nil {
			return err
		}
		printMore(p, r.Figures)
		printSessions(p, r.Figures.Sessions)
		printToolCalls(p, r.Figures.Tools)
		printParts(p, r.Parts)
		printClient(p, r)
		printGPUs(p, r.Telemetry)
		printCost(p, r.Cost)
		printComponents(p, r.Components)
		printReplicas(p, r.Replicas)
		printReadings(p, r)
	}

	return p.Flush(w)
}

func stepIDs(run *results.Run) []string {
	ids := make([]string, len(run.Steps))
	for i, s := range run.Steps {
		ids[i] = s.Result.Step.ID
	}
	return ids
}

func printStepFailures(p *table.Printer, run *results.Run, r *results.Result) {
	if r.Failure != nil {
		p.Section("Failure")
		p.Wrapped("  ", string(r.Failure.Class)+": "+text.Clean(r.Failure.Message))
		printAdvice(p, []string{string(r.Failure.Class)})
		for _, line := range text.Tail(r.Failure.LogTail, len(r.Failure.LogTail)) {
			p.Line("  | " + line)
		}
		if log := LogOf(run, r); log != "" {
			p.Line("  log: " + log)
		}
	}

	if len(r.Earlier) > 0 {
		p.Section("Earlier attempts")
		for i, f := range r.Earlier {
			p.Wrapped("  ", fmt.Sprintf("%d: %s: %s", i+1, f.Class, text.Clean(f.Message)))
		}
	}
}

func printLoad(p *table.Printer, r *results.Result) {
	a := r.Asked
	if a.API == "" {
		return
	}

	p.Section("Load")
	what, rated := "prompt", "requests/s"
	if r.Figures != nil && r.Figures.Sessions != nil {
		what, rated = "session", "sessions/s"
	}
	parts := []string{text.Count(a.NumPrompts, what), "dataset " + text.Clean(a.Dataset)}
	for _, part := range []struct {
		name  string
		value *int
	}{{"input tokens", a.InputLen}, {"output tokens", a.OutputLen}, {"max concurrency", a.MaxConcurrency}} {
		if part.value != nil {
			parts = append(parts, part.name+" "+strconv.Itoa(*part.value))
		}
	}

	rate := "all at once"
	if s := a.Settings; s != nil && len(s.Stages) > 0 {
		rate = "in stages:"
		for _, stage := range s.Stages {
			rate += " " + stage.String() + ";"
		}
		rate = strings.TrimSuffix(rate, ";")
	}
	if a.ReplaySpeed != nil {
		rate = fmt.Sprintf("at the recorded times, %g times as fast", *a.ReplaySpeed)
		if *a.ReplaySpeed == 1 {
			rate = "at the recorded times"
		}
	}
	if a.RequestRate != nil {
		rate = strconv.FormatFloat(*a.RequestRate, 'g', -1, 64) + " " + rated
	}

	parts = append(parts, rate)
	if early := a.EarlyText(); early != "" {
		parts = append(parts, early)
	}

	p.Wrapped("  ", text.Clean(a.Endpoint)+": "+text.Clean(strings.Join(parts, ", ")))
}

func printServers(p *table.Printer, servers []results.Server) {
	if len(servers) == 0 {
		return
	}

	p.Section("Servers")
	for _, s := range servers {
		about := []string{text.Clean(s.Launcher), text.Clean(s.BaseURL), "model " + text.Clean(s.Model)}
		if s.Version != "" {
			about = append(about, "version "+text.Clean(s.Version))
		}
		if len(s.GPUs) > 0 {
			about = append(about, fmt.Sprintf("GPUs %v", s.GPUs))
		}
		if s.CPUs != "" {
			about = append(about, "CPUs "+text.Clean(s.CPUs))
		}
		if s.NUMANode != nil {
			about = append(about, fmt.Sprintf("memory of NUMA node %d", *s.NUMANode))
		}
		if s.Nice != 0 {
			about = append(about, fmt.Sprintf("nice %d", s.Nice))
		}
		name := strconv.Itoa(s.Replica)
		if s.Component != "" {
			name += " " + text.Clean(s.Component)
		}
		if s.Node != "" {
			name += " on node " + text.Clean(s.Node)
		}
		p.Wrapped("  ", name+": "+strings.Join(about, ", "))
		if len(s.Argv) > 0 {
			p.Wrapped("     ", text.Clean(strings.Join(s.Argv, " ")))
		}
		printStartup(p, s.Startup)
	}
}

// printComponents prints what each part of a server did.
func printComponents(p *table.Printer, all []results.ComponentFigures) {
	if len(all) == 0 {
		return
	}

	p.Section("Components")
	for _, c := range all {
		about := []string{text.Count(c.Servers, "server")}
		if len(c.Nodes) > 0 {
			about = append(about, "on other nodes: "+text.Clean(strings.Join(c.Nodes, " ")))
		}
		for _, counter := range []struct{ name, words string }{
			{"requests_total", "requests"},
			{"input_tokens_total", "input tokens"},
			{"output_tokens_total", "output tokens"},
		} {
			if n, known := c.Counters[counter.name]; known {
				about = append(about, fmt.Sprintf("%.0f %s", n, counter.words))
			}
		}

		if len(c.GPUs) > 0 {
			about = append(about, fmt.Sprintf("GPUs %v", c.GPUs), table.Gibibytes(c.VRAMPeak)+" GiB at its peak",
				table.Number(c.PowerMeanW, 0)+" W", table.Number(c.EnergyJ, 0)+" J")
		}

		p.Wrapped("  ", text.Clean(c.Component)+": "+strings.Join(about, ", "))
	}
}

// printReplicas prints how the load fell on the servers of a replicated variant.
func printReplicas(p *table.Printer, all []results.ReplicaFigures) {
	if len(all) < 2 {
		return
	}
	p.Section("Replicas")
	for _, r := range all {
		f := r.Figures
		p.Line(fmt.Sprintf("  %d: %d of %s ok, %s req/s, %s output tok/s, median TTFT %s ms", r.Replica,
			f.Completed, text.Count(f.Asked, "request"),
			table.Number(f.RequestThroughput, 2), table.Number(f.OutputThroughput, 1),
			table.Milliseconds(f.TTFT.Median)))
	}
}

// isPart reports whether the server of that number is a part of one of several.
func isPart(r *results.Result, replica int) bool {
	return slices.ContainsFunc(r.Servers, func(s results.Server) bool {
		return s.Replica == replica && s.Component != ""
	})
}

// LogOf finds the log of the server that a step used last, relative to the run
// folder; "" if none is known.
func LogOf(run *results.Run, r *results.Result) string {
	life, replica := "", 0
	for _, e := range run.Events {
		if e.Step == r.Step.ID && e.Life != "" {
			life, replica = e.Life, e.Replica
		}
	}

	if life == "" && len(r.Servers) > 0 {
		life, replica = r.Servers[0].Life, r.Servers[0].Replica
	}
	if life == "" || life != path.Base(life) { // a name of anybody's file leads nowhere else
		return ""
	}

	for _, e := range run.Events {
		if r.Failure != nil && e.Kind == results.LifeFailed && e.Life == life && isPart(r, e.Replica) {
			replica = e.Replica // which of several failed
		}
	}

	name := path.Join("lives", text.Clean(life), store.ServerLogName(replica))
	if _, err := os.Stat(filepath.Join(run.Dir, filepath.FromSlash(name)+".zst")); err == nil { // its life has ended
		name += ".zst"
	}

	return name
}
