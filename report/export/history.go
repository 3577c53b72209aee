package export

import (
	"io"
	"strconv"
	"time"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/history"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/table"
)

// HistoryCSV prints one row for each run of each series, in base units and
// shares. What changed between a run and the one before it is in its row; a
// field is empty where nothing is known.
func HistoryCSV(w io.Writer, all []history.Series) error {
	out := newWriter(w)
	if err := out.write([]string{
		"scenario", "variant", "point", "figure", "higher_is_better", "simulated", "run", "started_at",
		"engine_version", "suspect", "n", "mean", "sd", "low", "high", "change_n_before", "change_n_after",
		"change_delta", "change_low", "change_high", "change_p_holm", "change_verdict", "change_searched",
		"change_recorded",
	}); err != nil {
		return err
	}
	for i := range all {
		for at := range all[i].Entries {
			if err := out.write(append(entryFields(&all[i], at), breakFields(&all[i], at)...)); err != nil {
				return err
			}
		}
	}
	return out.flush()
}

func entryFields(s *history.Series, at int) []string {
	e := s.Entries[at]
	began := ""
	if !e.Began.IsZero() {
		began = e.Began.Format(time.RFC3339)
	}
	return []string{
		text.Clean(s.Scenario), text.Clean(s.Variant), text.Clean(s.Point), s.Figure.FileName(),
		strconv.FormatBool(s.Figure.Higher), strconv.FormatBool(s.Simulated), text.Clean(e.Run), began,
		text.Clean(e.Version), strconv.FormatBool(e.Suspect), strconv.Itoa(e.Summary.N), table.Exact(e.Summary.Mean),
		table.Exact(e.Summary.SD), table.Exact(e.Summary.Low), table.Exact(e.Summary.High),
	}
}

// breakFields are what changed before an entry.
func breakFields(s *history.Series, at int) []string {
	const fields = 9
	b, ok := s.BreakAt(at)
	switch {
	case !ok:
		return make([]string, fields)
	case b.NotCompared != "":
		return append(make([]string, fields-3), "not comparable", "false", text.Clean(b.NotCompared))
	}
	return []string{
		strconv.Itoa(b.Baseline.N), strconv.Itoa(b.Candidate.N), table.Exact(b.Delta), table.Exact(b.Low),
		table.Exact(b.High), table.Exact(b.PHolm), string(b.Verdict), strconv.FormatBool(b.Searched),
		versus.ChangesText(b.Recorded),
	}
}
