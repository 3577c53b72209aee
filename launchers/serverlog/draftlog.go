package serverlog

import (
	"maps"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/launchers/scrape"
)

// Counted by the log is what lines of a server's log say about speculative
// decoding. It has the names of the counters behind this word: log_drafts_total.
const logCounted = "log_"

// The lines of engines and versions.
var (
	// vLLM before V1, every 5 s; its numbers count from the start of the server.
	draftLineTotal = regexp.MustCompile(`Speculative metrics: .*Number of speculative tokens: (\d+), Number of accepted tokens: (\d+), ` +
		`Number of draft tokens(?: tokens)?: (\d+), Number of emitted tokens(?: tokens)?: (\d+)`)
	// vLLM V1, every 10 s, in two wordings; its numbers are those of the time
	// since the line before.
	draftLineSpan     = regexp.MustCompile(`SpecDecoding metrics: .*Accepted: (\d+) tokens, Drafted: (\d+) tokens`)
	draftSpanLength   = regexp.MustCompile(`Mean acceptance length: (\d+\.\d+)`)
	draftSpanAtPlaces = regexp.MustCompile(`Per-position acceptance rate: ((?:\d+\.\d+|nan)(?:, (?:\d+\.\d+|nan))*)`)
	// llama-server, at the end of a request.
	draftLineRequest = regexp.MustCompile(`draft acceptance(?: rate)? = *[\d.]+ \( *(\d+) accepted / *(\d+) generated\)(?:, mean len = *(\d+\.\d+))?`)
)

// lengthRounding is how far off a mean length with two decimals may be.
const lengthRounding = 0.0051

// draftLog adds up what a log says about drafts.
type draftLog struct {
	sums      map[string]float64
	noDrafts  bool   // a line did not tell how many drafts there were
	tokens    int    // k, where the log says it; 0: it does not
	line      string // the last one
	stageLine string // the last one about the time that the stages take
}

// look takes in a line, if it is one about drafts.
func (l *draftLog) look(line string) {
	switch {
	case strings.Contains(line, "SpecDecodeWorker stage times"):
		l.stageLine = cutLine(line)
	case !strings.Contains(line, "acceptance"):
	default:
		if m := draftLineTotal.FindStringSubmatch(line); m != nil {
			l.total(m)
		} else if m := draftLineSpan.FindStringSubmatch(line); m != nil {
			l.span(line, m)
		} else if m := draftLineRequest.FindStringSubmatch(line); m != nil {
			l.add(readNumber(m[1]), readNumber(m[2]), draftsByLength(readNumber(m[1]), m[3]), nil)
		} else {
			return
		}
		l.line = cutLine(line)
	}
}

func cutLine(line string) string {
	if len(line) > maxShown {
		return strings.ToValidUTF8(secrets.Known().Beginning(line, maxShown), "")
	}
	return line
}

// total takes a line that counts from the start.
func (l *draftLog) total(m []string) {
	l.tokens, _ = strconv.Atoi(m[1]) // digits
	l.sums = map[string]float64{
		logCounted + scrape.AcceptedTotal: readNumber(m[2]), logCounted +
			scrape.DraftTokensTotal: readNumber(m[3]), logCounted + scrape.EmittedTotal: readNumber(m[4]),
	}
}

// span takes a line that counts since the one before.
func (l *draftLog) span(line string, m []string) {
	accepted, drafted := readNumber(m[1]), readNumber(m[2])
	var rates []float64
	if places := draftSpanAtPlaces.FindStringSubmatch(line); places != nil {
		for text := range strings.SplitSeq(places[1], ", ") {
			rates = append(rates, readNumber(text))
		}
	}

	length := ""
	if m := draftSpanLength.FindStringSubmatch(line); m != nil {
		length = m[1]
	}

	drafts := draftsByLength(accepted, length)
	// Exact where all drafts were of full length, which the length confirms.
	if k := float64(len(rates)); k > 0 && math.Mod(drafted, k) == 0 && drafted > 0 {
		full := drafted / k
		if stated := readNumber(length); length == "" || math.Abs(1+accepted/full-stated) < lengthRounding {
			drafts = full
		}
	}

	l.tokens = max(l.tokens, len(rates))
	l.add(accepted, drafted, drafts, rates)
}

// add adds counts; drafts below 0 are not known.
func (l *draftLog) add(accepted, drafted, drafts float64, rates []float64) {
	if l.sums == nil {
		l.sums = map[string]float64{}
	}

	l.sums[logCounted+scrape.AcceptedTotal] += accepted
	l.sums[logCounted+scrape.DraftTokensTotal] += drafted
	if drafted == 0 {
		return
	}
	if drafts < 0 {
		l.noDrafts = true
		return
	}

	l.sums[logCounted+scrape.DraftsTotal] += drafts
	for i, rate := range rates[:min(len(rates), scrape.MaxPosition)] {
		l.sums[logCounted+scrape.AcceptedAt(i)] += rate * drafts
	}
}

// draftsByLength tells the number of drafts by the printed mean length, which
// is 1 + accepted / drafts; -1: it is not known.
func draftsByLength(accepted float64, length string) float64 {
	if mean := readNumber(length); accepted > 0 && mean > 1 {
		return math.Round(accepted / (mean - 1))
	}
	return -1
}

// readNumber is 0 for what is not a number.
func readNumber(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) {
		return 0
	}
	return v
}

// counters are the sums so far; nil: the log has said nothing about drafts.
func (l *draftLog) counters() map[string]float64 {
	sums := maps.Clone(l.sums)
	if l.noDrafts {
		maps.DeleteFunc(sums, func(name string, _ float64) bool {
			return name == logCounted+scrape.DraftsTotal ||
				strings.HasPrefix(name, logCounted+scrape.AcceptedTotal+"_at_")
		})
	}
	return sums
}
