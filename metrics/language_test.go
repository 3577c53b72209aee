package metrics

import (
	"strconv"
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
)

// parseRecords reads the test language: a line a request, words in any order.
//
//	sent=S intended=S end=S   seconds; intended defaults to sent, end to the last chunk
//	t0.5                      a chunk of that kind (results.ChunkKind) at 0.5 s
//	in=N local=N out=N text=N asked=N cached=N replica=N
//	t0.5<0.1                  the same, which may have arrived up to 0.1 s earlier
//	written=S                 the kernel had the request at S seconds
//	done=S                    [DONE] at S seconds
//	src=usage fin=stop fail=CLASS
func parseRecords(t *testing.T, text string) []results.Record {
	t.Helper()
	var records []results.Record
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		r := results.Record{Index: len(records), OutputTokensSource: results.CountUsage, FinishReason: "length"}
		intended := false
		for word := range strings.FieldsSeq(line) {
			name, value, found := strings.Cut(word, "=")
			if !found {
				r.ChunkKinds += word[:1]
				at, late, isLate := strings.Cut(word[1:], "<")
				r.ChunkS = append(r.ChunkS, parseFloat(t, at))
				if isLate {
					r.ChunkLateS = append(r.ChunkLateS, make([]float64, len(r.ChunkS)-len(r.ChunkLateS))...)
					r.ChunkLateS[len(r.ChunkS)-1] = parseFloat(t, late)
				}
				r.EndS = r.ChunkS[len(r.ChunkS)-1]
				continue
			}
			intended = intended || name == "intended"
			setField(t, &r, name, value)
		}
		if !intended && r.SentS != nil {
			r.IntendedS = *r.SentS
		}
		records = append(records, r)
	}
	return records
}

func setField(t *testing.T, r *results.Record, name, value string) {
	t.Helper()
	switch name {
	case "sent":
		r.SentS = new(parseFloat(t, value))
	case "intended":
		r.IntendedS = parseFloat(t, value)
	case "written":
		r.WrittenS = new(parseFloat(t, value))
	case "end":
		r.EndS = parseFloat(t, value)
	case "done":
		r.DoneS = new(parseFloat(t, value))
	case "src":
		r.OutputTokensSource = results.TokenCount(value)
	case "fin":
		r.FinishReason = value
	case "fail":
		r.Failure = results.Failf(results.FailureClass(value), "it broke")
	default:
		n, err := strconv.Atoi(value)
		if err != nil {
			t.Fatal(err)
		}
		switch name {
		case "in":
			r.InputTokens = &n
		case "local":
			r.LocalInputTokens = &n
		case "out":
			r.OutputTokens = &n
		case "text":
			r.TextTokens = &n
		case "asked":
			r.AskedOutputTokens = n
		case "cached":
			r.CachedTokens = &n
		case "replica":
			r.Replica = n
		default:
			t.Fatalf("unknown word %q", name)
		}
	}
}

func parseFloat(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
