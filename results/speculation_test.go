package results

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The printed lines of three runs with speculation, by their counts.
func TestDraftingOfPrintedLines(t *testing.T) {
	for _, c := range []struct {
		name                     string
		k                        int
		accepted, draft, emitted float64
		rate, efficiency         float64 // as printed, three decimals
		length                   float64 // two decimals
	}{
		{"1B draft, k 5", 5, 197711, 248165, 190541, 0.797, 0.640, 3.84},
		{"1B draft, k 10", 10, 311498, 396390, 193355, 0.786, 0.443, 4.88},
		{"8B draft, k 5", 5, 186291, 213925, 190301, 0.871, 0.741, 4.45},
	} {
		for _, source := range []DraftSource{DraftsByCounters, DraftsByLog} {
			prefix := map[DraftSource]string{DraftsByLog: "log_"}[source]
			d := DraftingBy(source, map[string]float64{
				prefix + "draft_tokens_total": c.draft, prefix + "accepted_tokens_total": c.accepted,
				prefix + "emitted_tokens_total": c.emitted,
			})
			if d == nil {
				t.Fatalf("%s: DraftingBy(%s) = nil", c.name, source)
			}
			d.Tokens = &c.k
			d.Derive()
			if got := math.Round(*d.Rate*1000) / 1000; got != c.rate {
				t.Errorf("%s, %s: acceptance rate = %v, want %v as printed", c.name, source, got, c.rate)
			}
			if got := math.Round(*d.Efficiency*1000) / 1000; got != c.efficiency {
				t.Errorf("%s, %s: system efficiency = %v, want %v as printed", c.name, source, got, c.efficiency)
			}
			if want := c.emitted * float64(c.k) / c.draft; math.Abs(*d.Length-want) > 1e-12 ||
				math.Round(want*100)/100 != c.length {
				t.Errorf("%s, %s: length = %v, want %v, %v as printed", c.name, source, *d.Length, want, c.length)
			}
		}
	}
}

func TestDraftingBy(t *testing.T) {
	for _, c := range []struct {
		name     string
		source   DraftSource
		counters map[string]float64
		want     *Drafting
	}{
		{"nothing", DraftsByCounters, nil, nil},
		{"no draft was made", DraftsByCounters, map[string]float64{
			"draft_tokens_total": 0, "accepted_tokens_total": 0,
			"drafts_total": 0,
		}, nil},
		{"accepted ones are not counted", DraftsByCounters, map[string]float64{"draft_tokens_total": 10}, nil},
		{"the other source", DraftsByCounters, map[string]float64{
			"log_draft_tokens_total":    10,
			"log_accepted_tokens_total": 4,
		}, nil},
		{
			"no drafts", DraftsByLog,
			map[string]float64{"log_draft_tokens_total": 10, "log_accepted_tokens_total": 4},
			&Drafting{Source: DraftsByLog, DraftTokens: new(10.), AcceptedTokens: new(4.), Rate: new(0.4)},
		},
		{
			"none accepted", DraftsByCounters,
			map[string]float64{"draft_tokens_total": 10, "accepted_tokens_total": 0, "drafts_total": 5},
			&Drafting{
				Source: DraftsByCounters, Drafts: new(5.), DraftTokens: new(10.), AcceptedTokens: new(0.),
				Rate: new(0.), Length: new(1.), Efficiency: new(5. / 15),
			},
		},
		{
			"positions", DraftsByCounters,
			map[string]float64{
				"draft_tokens_total": 16, "accepted_tokens_total": 12, "drafts_total": 8,
				"accepted_tokens_total_at_0": 8, "accepted_tokens_total_at_1": 4, "accepted_tokens_total_at_3": 1,
			},
			&Drafting{
				Source: DraftsByCounters, Drafts: new(8.), DraftTokens: new(16.), AcceptedTokens: new(12.),
				AcceptedAt: []float64{8, 4},
				Rate:       new(0.75), Length: new(2.5), Efficiency: new(20. / 24), AtPosition: []float64{1, 0.5},
			},
		},
		{
			// The capture of vLLM 0.22 with drafts by n-gram: most steps have none.
			"steps without a draft", DraftsByCounters,
			map[string]float64{
				"draft_tokens_total": 1706, "accepted_tokens_total": 1131, "drafts_total": 582,
				"output_tokens_total": 5377,
			},
			&Drafting{
				Source: DraftsByCounters, Drafts: new(582.), DraftTokens: new(1706.), AcceptedTokens: new(1131.),
				OutputTokens: new(5377.), Rate: new(1131. / 1706), Length: new(1713. / 582),
				PerStep: new(5377. / 4246), Efficiency: new(1713. / 2288),
			},
		},
		{
			"emitted tokens are counted apart", DraftsByCounters,
			map[string]float64{
				"draft_tokens_total": 40, "accepted_tokens_total": 30, "drafts_total": 10, "emitted_tokens_total": 25,
				"output_tokens_total": 35,
			},
			&Drafting{
				Source: DraftsByCounters, Drafts: new(10.), DraftTokens: new(40.), AcceptedTokens: new(30.),
				EmittedTokens: new(25.), OutputTokens: new(35.), Rate: new(0.75), Length: new(2.5),
				PerStep: new(35. / 20), Efficiency: new(25. / 50),
			},
		},
		{
			"fewer output tokens than accepted ones", DraftsByCounters,
			map[string]float64{"draft_tokens_total": 10, "accepted_tokens_total": 4, "output_tokens_total": 4},
			&Drafting{
				Source: DraftsByCounters, DraftTokens: new(10.), AcceptedTokens: new(4.), OutputTokens: new(4.),
				Rate: new(0.4),
			},
		},
	} {
		got := DraftingBy(c.source, c.counters)
		if got != nil {
			got.Derive()
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: DraftingBy(%s, %v): (-want +got)\n%s", c.name, c.source, c.counters, diff)
		}
	}
}

func TestSpeculationOf(t *testing.T) {
	counted := Server{Counters: map[string]float64{
		"drafts_total": 10, "draft_tokens_total": 40, "accepted_tokens_total": 20, "accepted_tokens_total_at_0": 10,
		"accepted_tokens_total_at_1": 6,
	}}
	spoke := Server{Counters: map[string]float64{
		"draft_tokens_total": 40, "accepted_tokens_total": 20, "output_tokens_total": 60,
	}}
	told := Server{Speculation: &Drafting{
		Source: DraftsByAnswers, Tokens: new(4), DraftTokens: new(60.), AcceptedTokens: new(30.),
	}}
	gauges := Server{Speculation: &Drafting{Source: DraftsByGauges, Length: new(2.5)}}
	for _, c := range []struct {
		name    string
		servers []Server
		want    *Speculation
	}{
		{"none", []Server{{}, {}}, nil},
		{"gauges give no counts", []Server{gauges}, nil},
		{"one", []Server{counted}, &Speculation{
			Source: DraftsByCounters, DraftTokens: 40, AcceptedTokens: 20, AcceptanceRate: 0.5, Drafts: 10,
			AcceptanceLength: 3,
			PerPosition:      []float64{1, 0.6}, SystemEfficiency: new(30. / 50),
		}},
		{"two", []Server{counted, counted}, &Speculation{
			Source: DraftsByCounters, DraftTokens: 80, AcceptedTokens: 40, AcceptanceRate: 0.5, Drafts: 20,
			AcceptanceLength: 3,
			PerPosition:      []float64{1, 0.6}, SystemEfficiency: new(60. / 100),
		}},
		{"two that count their output", []Server{spoke, spoke}, &Speculation{
			Source: DraftsByCounters, DraftTokens: 80, AcceptedTokens: 40, AcceptanceRate: 0.5,
			OutputPerStep: new(120. / 80),
		}},
		{"what one does not count is not known", []Server{told, counted}, &Speculation{
			Source: DraftsByAnswers, K: 4, DraftTokens: 100, AcceptedTokens: 50, AcceptanceRate: 0.5,
		}},
		{"a file that says nonsense", []Server{
			{Speculation: &Drafting{DraftTokens: new(0.)}},
			{Speculation: &Drafting{DraftTokens: new(5.)}},
		}, nil},
	} {
		if diff := cmp.Diff(c.want, SpeculationOf(c.servers)); diff != "" {
			t.Errorf("%s: SpeculationOf: (-want +got)\n%s", c.name, diff)
		}
	}
}
