package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/report/detail"
	"github.com/benchrig/bench/results"
)

// notes are the lines of a run's report about other readings, about answers
// that should be the same, and about the starts of servers.
func notes(run *results.Run) []string {
	return slices.Concat(readingNotes(run), answerNotes(run), startNotes(run),
		jobNotes(run), clientNotes(run))
}

// jobNotes say which nodes of a cluster got no more jobs of the run, and how jobs
// ended that left steps without a verdict.
func jobNotes(run *results.Run) []string {
	const most = 10 // jobs; the journal has all
	var excluded, ended []string
	for _, e := range run.Events {
		switch {
		case e.Job == nil:
		case e.Kind == results.NodeExcluded:
			excluded = append(excluded, fmt.Sprintf("Node %s got no more jobs: %s.", text.Clean(e.Job.Node),
				text.Clean(e.Message)))
		case e.Kind == results.JobEnded:
			ended = append(ended, e.Job.Text()+".")
		}
	}
	if n := len(ended) - most; n > 0 {
		ended = append(ended[:most], fmt.Sprintf("%s more ended so; journal.jsonl has them (job-ended).",
			text.Count(n, "job")))
	}
	return slices.Concat(excluded, ended)
}

func readingNotes(run *results.Run) []string {
	var steps []string
	var codes []string
	for _, s := range run.Steps {
		r := s.Result
		if !detail.ReadingDiffers(r, results.VLLM) {
			continue
		}
		steps = append(steps, r.Step.ID)
		for _, d := range r.Compat[results.VLLM].Differences {
			codes = text.AppendNew(codes, string(d.Code))
		}
	}

	if len(steps) == 0 {
		return nil
	}

	why := ""
	if len(codes) > 0 {
		why = ": " + strings.Join(codes, ", ")
	}

	return []string{fmt.Sprintf("vllm bench serve would have shown other figures in %s (%s)%s. The step reports show "+
		"both.", text.Count(len(steps), "step"), text.Few(steps), why)}
}

// answerNotes compares the answers of variants to the same prompts at
// temperature 0, each with the first variant that can be compared.
func answerNotes(run *results.Run) []string {
	type prompts struct {
		point, sha256 string
		repeat        int
	}

	first := make(map[prompts]*results.Result)
	var lines []string
	for _, s := range run.Steps {
		r := s.Result
		if r.Figures == nil || r.Asked.DatasetSHA256 == "" || r.Simulated {
			continue
		}
		key := prompts{r.Step.Point, r.Asked.DatasetSHA256, r.Step.Repeat}
		base := first[key]
		if base == nil {
			if _, _, comparable := metrics.AnswersDiffer(r.Figures, r.Figures); comparable {
				first[key] = r
			}
			continue
		}
		differ, n, comparable := metrics.AnswersDiffer(base.Figures, r.Figures)
		if !comparable || differ == 0 || base.Step.Variant == r.Step.Variant {
			continue
		}
		lines = append(lines, fmt.Sprintf("Answers of %s differ from those of %s at %s of %d prompts (point %s, "+
			"temperature 0).",
			text.Clean(r.Step.Variant), text.Clean(base.Step.Variant), strconv.Itoa(differ), n,
			text.Clean(r.Step.Point)))
	}

	return lines
}

// startNotes say how each variant started, by what its first server said of it.
func startNotes(run *results.Run) []string {
	var lines, shown []string
	for _, s := range run.Steps {
		r := s.Result
		if len(r.Servers) == 0 || r.Servers[0].Startup == nil || slices.Contains(shown, r.Step.Variant) {
			continue
		}
		shown = append(shown, r.Step.Variant)
		if start := startText(r.Servers[0]); start != "" {
			lines = append(lines, text.Clean(r.Step.Variant)+": "+start)
		}
	}
	return lines
}

func startText(s results.Server) string {
	var parts []string
	if n := len(s.ReadyPhases); n > 0 {
		parts = append(parts, fmt.Sprintf("ready after %.1f s", s.ReadyPhases[n-1].AtS))
	}
	if len(s.Nodes) > 1 {
		parts = append(parts, "over "+strings.Join(s.Nodes, ", "))
	}
	if kv := s.Startup.KVTokens; kv != nil {
		parts = append(parts, fmt.Sprintf("KV cache for %d tokens", *kv))
	}
	return strings.Join(parts, ", ")
}
