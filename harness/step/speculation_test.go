package step

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/launchers/scrape"
	"github.com/benchrig/bench/results"
)

func TestDrafted(t *testing.T) {
	answer := func(replica, tokens, accepted int) results.Record {
		return results.Record{Replica: replica, DraftTokens: &tokens, AcceptedTokens: &accepted}
	}
	long := func(r results.Record, output int) results.Record { r.OutputTokens = &output; return r }
	checked := func(r results.Record, drafts int) results.Record { r.Drafts = &drafts; return r }
	counters := map[string]float64{"draft_tokens_total": 40, "accepted_tokens_total": 20, "drafts_total": 10}
	log := map[string]float64{
		"log_draft_tokens_total": 50, "log_accepted_tokens_total": 40,
		"log_emitted_tokens_total": 45,
	}
	gauges := []results.ServerMetrics{{}, {Replica: 1, Gauges: map[string]results.GaugeFigures{
		scrape.DraftLength: {Min: 2, Mean: 2.5, Max: 3}, scrape.DraftRate: {Mean: 0.5},
	}}}
	both := maps.Clone(counters)
	maps.Copy(both, log)
	told := &results.Drafting{Tokens: new(5), LogLines: []string{"a line"}}
	for _, c := range []struct {
		name    string
		info    results.Server
		records []results.Record
		seen    []results.ServerMetrics
		want    *results.Drafting
	}{
		{"nothing", results.Server{Speculation: told}, []results.Record{{}}, nil, nil},
		{
			"counters first",
			results.Server{Counters: both, Speculation: told},
			[]results.Record{answer(0, 8, 4)},
			gauges,
			&results.Drafting{
				Source: results.DraftsByCounters, Tokens: new(5), Drafts: new(10.), DraftTokens: new(40.),
				AcceptedTokens: new(20.),
				Rate:           new(0.5), Length: new(3.), Efficiency: new(0.6), LogLines: []string{"a line"},
			},
		},
		{
			"then what answers say, of this server",
			results.Server{Replica: 1, Counters: log},
			[]results.Record{answer(0, 8, 4), answer(1, 10, 4), {Replica: 1}, answer(1, 10, 1)},
			gauges,
			&results.Drafting{
				Source: results.DraftsByAnswers, DraftTokens: new(20.), AcceptedTokens: new(5.),
				Rate: new(0.25),
			},
		},
		{
			"with their drafts",
			results.Server{},
			[]results.Record{checked(answer(0, 6, 3), 2), checked(answer(0, 6, 1), 2)},
			nil,
			&results.Drafting{
				Source: results.DraftsByAnswers, Drafts: new(4.), DraftTokens: new(12.), AcceptedTokens: new(4.),
				Rate: new(4. / 12), Length: new(2.), Efficiency: new(8. / 16),
			},
		},
		{
			"with their lengths",
			results.Server{},
			[]results.Record{
				long(answer(0, 6, 3), 9), long(results.Record{}, 3), // without a draft
				long(results.Record{Failure: &results.Failure{}}, 5), // nobody knows what it drafted
			},
			nil,
			&results.Drafting{
				Source: results.DraftsByAnswers, DraftTokens: new(6.), AcceptedTokens: new(3.),
				OutputTokens: new(12.), Rate: new(0.5), PerStep: new(12. / 9),
			},
		},
		{
			"not all say them",
			results.Server{},
			[]results.Record{checked(answer(0, 6, 3), 2), answer(0, 6, 1)},
			nil,
			&results.Drafting{
				Source: results.DraftsByAnswers, DraftTokens: new(12.), AcceptedTokens: new(4.),
				Rate: new(4. / 12),
			},
		},
		{
			"then the log",
			results.Server{Counters: log, Speculation: told},
			nil, gauges,
			&results.Drafting{
				Source: results.DraftsByLog, Tokens: new(5), Drafts: new(10.), DraftTokens: new(50.),
				AcceptedTokens: new(40.), EmittedTokens: new(45.),
				Rate: new(0.8), Length: new(4.5), Efficiency: new(0.75), LogLines: []string{"a line"},
			},
		},
		{
			"then gauges",
			results.Server{Replica: 1},
			nil, gauges,
			&results.Drafting{Source: results.DraftsByGauges, Length: new(2.5), Rate: new(0.5)},
		},
	} {
		if diff := cmp.Diff(c.want, drafted(c.info, Pass{records: c.records}, c.seen)); diff != "" {
			t.Errorf("%s: drafted: (-want +got)\n%s", c.name, diff)
		}
	}
}

func TestSpeculationWarnings(t *testing.T) {
	speculating := []results.Server{{}, {Speculation: &results.Drafting{}}}
	for _, c := range []struct {
		name    string
		asked   results.Asked
		servers []results.Server
		want    []results.WarningCode
	}{
		{"text", results.Asked{Dataset: "sharegpt"}, speculating, nil},
		{"random ids", results.Asked{Dataset: "random"}, speculating, []results.WarningCode{results.WarnSpecRandom}},
		{
			"random beginnings",
			results.Asked{Dataset: "prefix_repetition"},
			speculating,
			[]results.WarningCode{results.WarnSpecRandom},
		},
		{
			"past the end",
			results.Asked{Dataset: "sonnet", IgnoreEOS: true},
			speculating,
			[]results.WarningCode{results.WarnSpecPastEnd},
		},
		{
			"both",
			results.Asked{Dataset: "random_mm", IgnoreEOS: true},
			speculating,
			[]results.WarningCode{results.WarnSpecRandom, results.WarnSpecPastEnd},
		},
		{
			"another acceptance than asked for",
			results.Asked{Dataset: "sharegpt"},
			[]results.Server{{
				Env:         map[string]string{"SGLANG_SIMULATE_ACC_LEN": "3"},
				Speculation: &results.Drafting{Length: new(2.84)},
			}},
			[]results.WarningCode{results.WarnAcceptance},
		},
		{
			"the acceptance asked for",
			results.Asked{Dataset: "sharegpt"},
			[]results.Server{{
				Env:         map[string]string{"SGLANG_SIMULATE_ACC_LEN": "3"},
				Speculation: &results.Drafting{Length: new(2.86)},
			}},
			nil,
		},
		{"no drafts", results.Asked{Dataset: "random", IgnoreEOS: true}, make([]results.Server, 2), nil},
	} {
		var got []results.WarningCode
		for _, w := range speculationWarnings(c.asked, c.servers) {
			got = append(got, w.Code)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: speculationWarnings: (-want +got)\n%s", c.name, diff)
		}
	}
}
