package curves

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// stream is a record with chunks at times, of tokens.
func stream(sent, end float64, in, out int, chunks ...float64) results.Record {
	r := results.Record{SentS: &sent, EndS: end, InputTokens: &in, OutputTokens: &out, ChunkS: chunks}
	for range chunks {
		r.ChunkKinds += string(byte(results.ChunkText))
	}
	return r
}

func observed(r *results.Record) *metrics.Observation {
	o := metrics.Observe(r, metrics.IsToken)
	return &o
}

func TestInFlight(t *testing.T) {
	f := newInFlight(10, 11)
	one, two := stream(0, 4, 10, 2, 2, 3), stream(2.5, 8, 100, 4, 5, 6) // the second: 2 tokens a chunk
	f.add(observed(&one))
	f.add(observed(&two))
	f.add(observed(&results.Record{EndS: 3})) // never sent
	wantRequests := []Level{{0, 1}, {3, 2}, {4, 1}, {8, 0}, {10, 0}}
	if diff := cmp.Diff(wantRequests, f.Requests()); diff != "" {
		t.Errorf("Requests() (-want +got):\n%s", diff)
	}
	wantTokens := []Level{{0, 10}, {2, 11}, {3, 112}, {4, 100}, {5, 102}, {6, 104}, {8, 0}, {10, 0}}
	if diff := cmp.Diff(wantTokens, f.Tokens()); diff != "" {
		t.Errorf("Tokens() (-want +got):\n%s", diff)
	}
}

func TestInFlightOfOddPasses(t *testing.T) {
	for name, duration := range map[string]float64{
		"no duration": 0, "no number": math.NaN(), "infinite": math.Inf(1),
		"negative": -3,
	} {
		f := newInFlight(duration, 1)
		r := stream(0, 5, 1, 1, 0.5)
		f.add(observed(&r))
		if got := f.Requests(); len(got) != 2 || got[0].Value != 1 {
			t.Errorf("%s: Requests() = %v, want two levels, the first 1", name, got)
		}
	}
}

// At every moment the levels are what counting all requests gives.
func TestInFlightIsTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	var records []results.Record
	f := newInFlight(20, 81)
	for range 200 {
		sent := 18 * r.Float64()
		first := sent + r.Float64()
		record := stream(sent, first+r.Float64()*2, r.IntN(50), 3, first, first+0.1, first+0.2)
		record.EndS = max(record.EndS, first+0.2)
		records = append(records, record)
		f.add(observed(&record))
	}
	at := func(levels []Level, t float64) float64 {
		value := math.NaN()
		for _, l := range levels {
			if l.AtS <= t+1e-9 {
				value = l.Value
			}
		}
		return value
	}
	for i := range 81 {
		moment := float64(i) * 0.25
		requests, tokens := 0.0, 0.0
		for _, rec := range records {
			if *rec.SentS > moment || rec.EndS <= moment {
				continue
			}
			requests++
			tokens += float64(*rec.InputTokens)
			for _, c := range rec.ChunkS {
				if c <= moment {
					tokens++
				}
			}
		}
		if got := at(f.Requests(), moment); got != requests {
			t.Fatalf("at %g s: %g requests, want %g", moment, got, requests)
		}
		if got := at(f.Tokens(), moment); math.Abs(got-tokens) > 1e-6 {
			t.Fatalf("at %g s: %g tokens, want %g", moment, got, tokens)
		}
	}
}
