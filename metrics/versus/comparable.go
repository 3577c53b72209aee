package versus

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/results"
)

// kindDiffers says why figures of two cells are never compared; "": they may
// be.
func kindDiffers(baseline, candidate compare.Cell) string {
	switch {
	case len(baseline.Counted) == 0 || len(candidate.Counted) == 0:
		return "" // a step that failed before its server answered is of neither kind
	case baseline.IsSimulated() != candidate.IsSimulated():
		return "one side is simulated and the other is real"
	}
	if x, y := baseline.Counted[0].Method(), candidate.Counted[0].Method(); x != y {
		return "the methods differ: " + x + " and " + y
	}
	return ""
}

// promptsDiffer says how the prompts of two cells differ; "": not, as far as
// their hashes tell. Cells of which other repeats count, each with prompts of its
// own, have the prompts of one load.
func promptsDiffer(baseline, candidate compare.Cell) string {
	b, c := hashesOf(baseline.Counted), hashesOf(candidate.Counted)
	if len(b) == 0 || len(c) == 0 {
		return ""
	}
	ofAll := hashesOf(baseline.Steps)
	if slices.ContainsFunc(hashesOf(candidate.Steps), func(hash string) bool { return slices.Contains(ofAll, hash) }) {
		return ""
	}
	return fmt.Sprintf("the prompts differ (SHA-256 %s and %s)", Short(b[0]), Short(c[0]))
}

// hashesOf are the hashes of the prompts of steps: each repeat of a cell may have
// prompts of its own.
func hashesOf(steps []*results.Result) []string {
	var hashes []string
	for _, r := range steps {
		if r.Asked.DatasetSHA256 != "" {
			hashes = text.AppendNew(hashes, r.Asked.DatasetSHA256)
		}
	}
	return hashes
}

// Short is the beginning of a hash.
func Short(hash string) string { return text.Clean(hash[:min(12, len(hash))]) }

// loadSetting is a setting of the load: how a comparison calls it, its key in
// results.Origin.Told, and its value.
type loadSetting struct{ Name, Key, Value string }

// LoadSettings are the settings of a load, in a fixed order.
func LoadSettings(a results.Asked) []loadSetting {
	ramp := ""
	if a.Ramp != nil {
		ramp = fmt.Sprintf("%s %g to %g/s", a.Ramp.Strategy, a.Ramp.StartRPS, a.Ramp.EndRPS)
	}

	return []loadSetting{
		{"api", "api", a.API},
		{"burstiness", "burstiness", TextOf(a.Burstiness)},
		{"compat", "compat", a.Compat},
		{"dataset", "dataset", a.Dataset},
		{"endpoint", "endpoint", a.Endpoint},
		{"ignore-eos", "ignore_eos", strconv.FormatBool(a.IgnoreEOS)},
		{"input-len", "input_len", TextOf(a.InputLen)},
		{"max-concurrency", "max_concurrency", TextOf(a.MaxConcurrency)},
		{"num-prompts", "num_prompts", strconv.Itoa(a.NumPrompts)},
		{"output-len", "output_len", TextOf(a.OutputLen)},
		{"ramp", "ramp", ramp},
		{"replay-speed", "replay_speed", TextOf(a.ReplaySpeed)},
		{"request-rate", "request_rate", TextOf(a.RequestRate)},
		{"send-for", "send_for", TextOf(a.SendForS)},
		{"temperature", "temperature", TextOf(a.Temperature)},
		{"warmups", "warmups", strconv.Itoa(a.Warmups)},
	}
}

// loadChanges lists the settings of the load that differ between two steps, and
// those that only one of them states.
func loadChanges(b, c *results.Result) []Change {
	var all []Change
	others := LoadSettings(c.Asked)
	for i, setting := range LoadSettings(b.Asked) {
		from, to := setting.Value, others[i].Value
		if !b.IsStated(setting.Key) {
			from = NotKnown
		}
		if !c.IsStated(setting.Key) {
			to = NotKnown
		}
		if from != to {
			all = append(all, Change{"load " + setting.Name, from, to})
		}
	}

	return all
}

// TextOf is a value, or "none".
func TextOf[T any](v *T) string {
	if v == nil {
		return "none"
	}
	return fmt.Sprint(*v)
}

// sideNotes say what weakens a comparison without forbidding it.
func sideNotes(c compare.Cell) []string {
	var notes []string
	name := text.Clean(c.Variant)
	if len(c.Counted) == 0 {
		return nil
	}

	if left := len(c.Steps) - len(c.Counted); left > 0 {
		notes = append(notes, fmt.Sprintf("%s: %d of %s left out (%s)", name, left, text.Count(len(c.Steps), "repeat"),
			strings.Join(Uncounted(c), "; ")))
	}

	if c.Counted[0].Verdict == results.Suspect {
		notes = append(notes, fmt.Sprintf("%s%s has no valid repeat: its figures come from suspect repeats (%s)",
			SuspectMark, name, strings.Join(WarningCodes(c), ", ")))
	}

	if c.Lives() == 1 && len(c.Counted) > 1 {
		notes = append(notes, fmt.Sprintf("%s: all %d repeats share one server start, which counts once: only "+
			"restarts show how starts vary", name, len(c.Counted)))
	}

	if len(c.Counted[0].Servers) > 0 && c.Counted[0].Servers[0].AlreadyRunning() {
		notes = append(notes, name+": the server was already running; its repeats are not restarts, and the intervals "+
			"do not include how starts vary")
	}

	if isImported(c) && len(c.Counted) > 1 {
		notes = append(notes, name+": imported: whether its repeats are restarts of the server is not known")
	}

	if e := c.Extrapolated(); e != nil {
		notes = append(notes, name+": "+ExtrapolatedText(*e))
	}

	return notes
}

// SuspectMark precedes what comes from suspect repeats.
const SuspectMark = "? "

// Uncounted says why steps of a cell do not count, in their own words; of
// several of one class it quotes the first.
func Uncounted(c compare.Cell) []string {
	var words []string
	var classes []string
	for _, r := range c.Steps {
		class := string(r.Verdict)
		switch doubts := metrics.Doubts(r); {
		case r.Failure != nil:
			class += string(r.Failure.Class)
		case len(doubts) > 0:
			class += string(doubts[0].Code)
		}
		if slices.Contains(c.Counted, r) || slices.Contains(classes, class) {
			continue
		}
		classes, words = append(classes, class), append(words, Verbatim(r))
	}

	return words
}

// Verbatim says how a step ended: its verdict, the class and words of its
// failure, and the line of the server's log that looks like the cause.
func Verbatim(r *results.Result) string {
	message := string(r.Verdict)
	if r.Failure == nil {
		if doubts := metrics.Doubts(r); len(doubts) > 0 {
			message += ": " + text.Clean(doubts[0].Message)
		}
		return message
	}
	message += ": " + string(r.Failure.Class) + ": " + text.Clean(r.Failure.Message)
	if line := lastErrorLine(r.Failure.LogTail); line != "" && !strings.Contains(message, line) {
		message += " | " + line
	}
	return message
}

// lastErrorLine is the last line of a log that names an error, else the last one.
func lastErrorLine(lines []string) string {
	last := ""
	for _, message := range slices.Backward(lines) {
		line := text.Clean(message)
		lower := strings.ToLower(line)
		if strings.Contains(lower, "error") || strings.Contains(lower, "exception") {
			return line
		}
		if last == "" {
			last = line
		}
	}
	return last
}

// WarningCodes are the codes of the warnings that make a cell's repeats suspect.
func WarningCodes(c compare.Cell) []string {
	var codes []string
	for _, r := range c.Counted {
		for _, w := range metrics.Doubts(r) {
			codes = text.AppendNew(codes, string(w.Code))
		}
	}
	return codes
}
