// Package drafts reads what a server's log says about speculative decoding.
//
// What goes in: a line of text. What comes out: what it counts, or nothing. It does not
// decide which result the line belongs to.
package drafts

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/benchrig/bench/results"
)

var draftLine = regexp.MustCompile(`Draft acceptance rate: [\d.]+, System efficiency: [\d.]+, Number of speculative tokens: (\d+), Number of accepted tokens: (\d+), Number of draft tokens: (\d+), Number of emitted tokens: (\d+)`)

// IsStageTimes reports whether a line is that in which vLLM before V1 reports how long
// the stages of drafting take.
func IsStageTimes(text string) bool { return strings.Contains(text, "SpecDecodeWorker stage times") }

// In reads the line in which vLLM before V1 reports speculative decoding; nil: another
// line.
func In(text string) *results.Drafting {
	if !strings.Contains(text, "Draft acceptance") {
		return nil
	}

	m := draftLine.FindStringSubmatch(text)
	if m == nil {
		return nil
	}

	v := make([]float64, len(m))
	for i := 1; i < len(m); i++ {
		var err error
		if v[i], err = strconv.ParseFloat(m[i], 64); err != nil {
			return nil
		}
	}

	d := &results.Drafting{
		Source: results.DraftsByLog, Tokens: new(int(v[1])), AcceptedTokens: &v[2], DraftTokens: &v[3],
		EmittedTokens: &v[4], LogLines: []string{text},
	}

	d.Derive()
	return d
}
