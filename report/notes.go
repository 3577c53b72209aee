package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/report/detail"
	"github.com/benchrig/bench/results"
)

// notes are the lines of a run's report about other readings, about answers
// that should be the same, and about the starts of servers.
func notes(run *results.Run) []string {
	return slices.Concat(scoreNotes(run), readingNotes(run), answerNotes(run), startNotes(run),
		jobNotes(run), clientNotes(run))
}

// scoreNotes tell what the evaluations of each variant came to, the mean over its steps.
func scoreNotes(run *results.Run) []string {
	scores := map[string]map[string][]float64{} // by variant, by what was scored
	var variants []string
	add := func(variant, what string, score float64) {
		variants = text.AppendNew(variants, variant)
		if scores[variant] == nil {
			scores[variant] = map[string][]float64{}
		}
		scores[variant][what] = append(scores[variant][what], score)
	}
	for _, s := range run.Steps {
		if e := s.Result.Evaluation; e != nil {
			add(s.Result.Step.Variant, "questions with exact answers", e.Score)
		}
		if c := s.Result.CommandScore; c != nil && c.Score != nil {
			add(s.Result.Step.Variant, "evaluation "+c.Name, *c.Score)
		}
	}

	var lines []string
	for _, v := range variants {
		var parts []string
		for _, what := range slices.Sorted(maps.Keys(scores[v])) {
			all := scores[v][what]
			parts = append(parts, fmt.Sprintf("%s %.4g (%s)", text.Clean(what), metrics.Mean(all),
				text.Count(len(all), "step")))
		}
		lines = append(lines, fmt.Sprintf("Scores of %s: %s.", text.Clean(v), strings.Join(parts, ", ")))
	}

	return lines
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

// answerNotes compares the answers to the same prompts at temperature 0: those of each
// variant with the first variant that can be compared, and with its own at its first
// load point.
func answerNotes(run *results.Run) []string {
	type prompts struct {
		of, sha256 string // a load point, or a variant
		repeat     int
	}

	first := make(map[prompts]*results.Result)
	var lines []string
	for _, s := range run.Steps {
		r := s.Result
		if r.Asked.DatasetSHA256 == "" || metrics.CompareAnswers(r.Figures, r.Figures) == nil {
			continue
		}

		across := prompts{"point " + r.Step.Point, r.Asked.DatasetSHA256, r.Step.Repeat}
		within := prompts{"variant " + r.Step.Variant, r.Asked.DatasetSHA256, r.Step.Repeat}
		if base := first[across]; base != nil && base.Step.Variant != r.Step.Variant {
			lines = append(lines, answersText(fmt.Sprintf("Answers of %s differ from those of %s (point %s)",
				text.Clean(r.Step.Variant), text.Clean(base.Step.Variant), text.Clean(r.Step.Point)), base, r)...)
		}
		if base := first[within]; base != nil && base.Step.Point != r.Step.Point {
			lines = append(lines, answersText(fmt.Sprintf("Answers of %s under load %s differ from its own under load "+
				"%s", text.Clean(r.Step.Variant), text.Clean(r.Step.Point), text.Clean(base.Step.Point)), base, r)...)
		}
		for _, key := range []prompts{across, within} {
			if first[key] == nil {
				first[key] = r
			}
		}
	}

	return lines
}

// answersText is empty where the answers of two steps are equal, or cannot be
// compared.
func answersText(what string, base, r *results.Result) []string {
	c := metrics.CompareAnswers(base.Figures, r.Figures)
	if c == nil || c.Equal == c.Prompts {
		return nil
	}
	return []string{fmt.Sprintf("%s: %s, temperature 0.", what, c.Text())}
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
