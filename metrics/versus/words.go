package versus

import (
	"fmt"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/compare"
)

// unknown stands for a figure that is not known.
const unknown = "-"

// ChangeText is a relative change in percent.
func ChangeText(share *float64) string {
	if share == nil {
		return unknown
	}
	return percent(*share) + " %"
}

// IntervalText is the interval of a change in percent.
func IntervalText(d compare.Difference) string {
	if d.Low == nil {
		return unknown
	}
	return RangeText(*d.Low, *d.High)
}

// RangeText is an interval of changes in percent.
func RangeText(low, high float64) string { return percent(low) + " to " + percent(high) + " %" }

// percent is a change in percent: of tenfold and more without decimals, and none
// beyond a hundredfold, which only says that hardly anything is known.
func percent(share float64) string {
	const tenfold, hundredfold = 10, 100

	switch {
	case share > hundredfold:
		return fmt.Sprintf("over %+d", 100*hundredfold)
	case share >= tenfold:
		return fmt.Sprintf("%+.0f", 100*share)
	}

	return fmt.Sprintf("%+.2f", 100*share)
}

// VerdictText is the verdict, and where there is none what would bring one.
func VerdictText(d compare.Difference) string {
	switch {
	case d.Verdict != compare.CannotTell:
		return string(d.Verdict)
	case d.Baseline.N == 0 || d.Candidate.N == 0:
		return "cannot tell: a repeat of one side does not have it"
	case d.Delta == nil:
		return "cannot tell: the baseline is 0"
	case d.OneAfter:
		return "cannot tell: one side ran after the other, and a drift over time would explain it; use order: " +
			"interleaved"
	case d.Low == nil:
		return fmt.Sprintf("cannot tell: at least %s needed", text.Count(d.MoreRepeats, "more repeat"))
	case d.MoreRepeats >= compare.MaxRepeats:
		return "cannot tell: the spread is too wide; more repeats would not decide it"
	}
	return fmt.Sprintf("cannot tell%s: %s would decide it", CorrectedText(d), text.Count(d.MoreRepeats, "more repeat"))
}

// CorrectedText says why a difference whose interval lies on one side of 0 is
// not established: " (p 0.08 after correction)". It is "" where the interval
// itself shows it.
func CorrectedText(d compare.Difference) string {
	if d.Verdict != compare.CannotTell || d.OneAfter || d.PHolm == nil || d.Low == nil || *d.Low**d.High <= 0 {
		return ""
	}
	return fmt.Sprintf(" (p %.2g after correction)", *d.PHolm)
}

// ShortVerdict is VerdictText for narrow terminals: "+4" are repeats.
func ShortVerdict(d compare.Difference) string {
	if d.OneAfter {
		return string(d.Verdict) + ", order"
	}
	if d.Verdict == compare.CannotTell && d.MoreRepeats > 0 && d.MoreRepeats < compare.MaxRepeats {
		return fmt.Sprintf("%s, +%d", d.Verdict, d.MoreRepeats)
	}
	return string(d.Verdict)
}
