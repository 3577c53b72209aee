package export

import (
	"io"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// DifferencesCSV prints one row for each figure of each variant beside the
// baseline at each point, in base units and shares. A field is empty where
// nothing is known.
func DifferencesCSV(w io.Writer, run *results.Run) error {
	out := newWriter(w)
	if err := out.write([]string{
		"point", "baseline", "candidate", "figure", "higher_is_better", "baseline_n", "baseline_mean", "baseline_sd",
		"candidate_n", "candidate_mean", "candidate_sd",
		"delta", "low", "high", "boot_low", "boot_high", "p_welch", "p_rank", "p_holm", "effect", "verdict",
		"more_repeats", "simulated", "extrapolated", "notes",
	}); err != nil {
		return err
	}
	for _, s := range versus.Differences(run) {
		for _, record := range csvRecords(&s) {
			if err := out.write(record); err != nil {
				return err
			}
		}
	}

	return out.flush()
}

// csvRecords are the rows of one comparison. One without figures has a row that
// says why.
func csvRecords(s *versus.Pair) [][]string {
	names := []string{text.Clean(s.Point), text.Clean(s.Baseline.Variant), text.Clean(s.Candidate.Variant)}
	marks := []string{
		strconv.FormatBool(s.Baseline.IsSimulated() || s.Candidate.IsSimulated()),
		strconv.FormatBool(s.Baseline.Extrapolated() != nil || s.Candidate.Extrapolated() != nil),
		remarksOf(s),
	}

	if len(s.Differences) == 0 {
		verdict := "no figures"
		if s.NotCompared != "" {
			verdict = "not comparable"
		}
		const between = 17 // fields from figure to effect
		record := append(names, make([]string, between)...)
		return [][]string{append(append(record, verdict, ""), marks...)}
	}

	var rows [][]string
	for _, d := range s.Differences {
		rows = append(rows, append(append(append([]string{}, names...), differenceFields(d)...), marks...))
	}

	return rows
}

func differenceFields(d compare.Difference) []string {
	name := d.Figure
	if f, err := catalog.Find(name); err == nil {
		name = f.FileName()
	}

	return []string{
		name, strconv.FormatBool(d.Higher), strconv.Itoa(d.Baseline.N), table.Exact(d.Baseline.Mean),
		table.Exact(d.Baseline.SD),
		strconv.Itoa(d.Candidate.N), table.Exact(d.Candidate.Mean), table.Exact(d.Candidate.SD), table.Exact(d.Delta),
		table.Exact(d.Low), table.Exact(d.High),
		table.Exact(d.BootLow), table.Exact(d.BootHigh), table.Exact(d.PWelch), table.Exact(d.PRank),
		table.Exact(d.PHolm), table.Exact(d.Effect), string(d.Verdict), strconv.Itoa(d.MoreRepeats),
	}
}

// remarksOf are all that readers must know of a comparison.
func remarksOf(s *versus.Pair) string {
	all := append([]string{}, s.Failed...)
	if s.NotCompared != "" {
		all = append(all, s.NotCompared)
	}
	all = append(all, s.Notes...)
	for _, line := range s.Outliers {
		all = append(all, "outlier: "+text.Clean(line))
	}
	for _, line := range s.Drifts {
		all = append(all, "drift: "+text.Clean(line))
	}
	return strings.Join(all, "; ")
}
