package metrics

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/results"
)

// show prints the figures that a test names, null as "-".
func show(f results.Figures, names string) string {
	number := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprint(math.Round(*v*1e6) / 1e6)
	}
	count := func(v *int64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprint(*v)
	}
	values := map[string]string{
		"requests": fmt.Sprintf("%d/%d/%d/%d", f.Asked, f.Completed, f.Failed, f.Unsent),
		"tokens":   count(f.TotalInputTokens) + "/" + count(f.TotalOutputTokens) + "/" + count(f.CachedTokens),
		"rates": number(f.RequestThroughput) + "/" + number(f.OutputThroughput) + "/" +
			number(f.TotalTokenThroughput),
		"good":     number(f.RequestGoodput),
		"ttft":     number(f.TTFT.Mean),
		"tpot":     number(f.TPOT.Mean),
		"itl":      fmt.Sprintf("%d:%s", f.ITL.N, number(f.ITL.Mean)),
		"e2el":     number(f.E2EL.Mean),
		"ttfti":    number(f.TTFTFromIntended.Mean),
		"e2eli":    number(f.E2ELFromIntended.Mean),
		"peak":     fmt.Sprint(f.PeakConcurrent),
		"max":      number(f.MaxOutputTokensPerS),
		"per":      number(f.TokensPerChunk),
		"failures": fmt.Sprint(f.Failures),
	}
	var parts []string
	for name := range strings.FieldsSeq(names) {
		parts = append(parts, name+" "+values[name])
	}
	return strings.Join(parts, ", ")
}

func TestSummarize(t *testing.T) {
	tests := []struct {
		name, records string
		params        Params
		show, want    string
	}{
		{
			"one answer", "sent=1 t1.5 t1.7 t1.9 f1.95 u2 end=2 in=10 out=3",
			Params{DurationS: 2},
			"requests tokens rates ttft tpot itl e2el peak max per",
			"requests 1/1/0/0, tokens 10/3/-, rates 0.5/1.5/6.5, ttft 0.5, tpot 0.2, itl 2:0.2, e2el 0.9, peak 1, " +
				"max 3, per 1",
		},
		{
			"nothing", "",
			Params{DurationS: 2},
			"requests tokens rates ttft tpot itl e2el peak max per",
			"requests 0/0/0/0, tokens 0/0/-, rates 0/0/0, ttft -, tpot -, itl 0:-, e2el -, peak 0, max -, per -",
		},
		{"no window", "sent=0 t1 in=1 out=1", Params{}, "rates", "rates -/-/-"},
		{
			"a role chunk is not a first token", "sent=0 r0.005 t0.1 t0.2 out=2",
			Params{},
			"ttft itl",
			"ttft 0.1, itl 1:0.1",
		},
		{
			"empty and finish chunks are not tokens", "sent=0 e0.1 t0.2 e0.3 t0.4 f0.9 out=2",
			Params{},
			"ttft itl e2el",
			"ttft 0.2, itl 1:0.2, e2el 0.4",
		},
		{
			"reasoning and tool calls are tokens", "sent=0 k0.1 t0.2 c0.4 out=3",
			Params{},
			"ttft itl",
			"ttft 0.1, itl 2:0.15",
		},
		{
			"a late usage chunk moves nothing", "sent=0 t0.1 t0.2 u0.9 out=2",
			Params{},
			"e2el tpot",
			"e2el 0.2, tpot 0.1",
		},
		{
			"an in-band error is a failure", "sent=0 t0.1 t0.2 x0.3 out=2",
			Params{DurationS: 1},
			"requests tokens failures ttft",
			"requests 1/0/1/0, tokens 0/0/-, failures map[in-band-error:1], ttft -",
		},
		{
			"a stream without tokens is a failure", "sent=0 r0.1 f0.2",
			Params{},
			"requests failures",
			"requests 1/0/1/0, failures map[no-tokens:1]",
		},
		{
			"failed requests are in no latency", "sent=0 t1 out=1\n sent=0 t9 fail=truncated out=1",
			Params{},
			"requests ttft tokens",
			"requests 2/1/1/0, ttft 1, tokens -/1/-",
		},
		{"one token has no TPOT", "sent=0 t1 out=1\n sent=0 t1 t3 out=2", Params{}, "tpot", "tpot 2"},
		{
			"unknown length has no TPOT and no total", "sent=0 t1 t2\n sent=0 t1 t3 out=2",
			Params{DurationS: 1},
			"tpot tokens rates",
			"tpot 2, tokens -/-/-, rates 2/-/-",
		},
		{"all tokens in one chunk", "sent=0 t1 out=4", Params{}, "tpot itl per max", "tpot -, itl 0:-, per 4, max 4"},
		{"chunks weigh their tokens", "sent=0 t0.1 t0.2 t1.5 out=6", Params{}, "max per", "max 4, per 2"},
		{"seconds count from the first send", "sent=0.9 t1.0 t1.8 t1.95 out=3", Params{}, "max", "max 2"},
		{
			"the server's count of the prompt wins", "sent=0 t1 in=12 local=10 out=1\n sent=0 t1 local=10 out=1",
			Params{},
			"tokens", "tokens 22/2/-",
		},
		{
			"cached tokens add up where told", "sent=0 t1 out=1 cached=5\n sent=0 t1 out=1",
			Params{},
			"tokens",
			"tokens -/2/5",
		},
		{
			"from the intended time", "intended=1 sent=3 t4 t6 out=2",
			Params{},
			"ttft ttfti e2el e2eli",
			"ttft 1, ttfti 3, e2el 3, e2eli 5",
		},
		{
			"an end makes room for a begin", "sent=0 t1 out=1\n sent=1 t2 out=1\n sent=2 t3 out=1",
			Params{},
			"peak", "peak 1",
		},
		{
			"overlap counts, failed requests too",
			"sent=0 t4 out=1\n sent=1 end=5 fail=stall-timeout\n sent=3 t6 out=1",
			Params{},
			"peak", "peak 3",
		},
		{
			"never sent", "sent=0 t1 out=1\n fail=canceled\n fail=connect",
			Params{Asked: 5},
			"requests failures",
			"requests 5/1/1/3, failures map[connect:1]",
		},
		{
			"goals are inclusive and all must hold", "sent=0 t1 t2 out=2\n sent=0 t1 t3 out=2\n sent=0 t2 t3 out=2",
			Params{DurationS: 1, Goals: Goals{TTFT: new(1.0), TPOT: new(1.0)}},
			"good", "good 1",
		},
		{
			"one token keeps a TPOT goal", "sent=0 t1 out=1\n sent=0 t1 t2",
			Params{DurationS: 1, Goals: Goals{TPOT: new(0.5)}},
			"good", "good 1",
		},
		{
			"E2EL goal", "sent=0 t1 t2 out=2\n sent=0 t1 t3 out=2",
			Params{DurationS: 2, Goals: Goals{E2EL: new(2.5)}},
			"good", "good 0.5",
		},
		{"no goals", "sent=0 t1 out=1", Params{DurationS: 1}, "good", "good -"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := show(Summarize(parseRecords(t, tt.records), tt.params), tt.show)
			if got != tt.want {
				t.Errorf("Summarize = %s\nwant        %s", got, tt.want)
			}
		})
	}
}

func TestSummarizeCountsEndsAndSources(t *testing.T) {
	f := Summarize(parseRecords(t, `
		sent=0 t1 out=1 fin=stop
		sent=0 t1 out=1 fin=length src=tokenize
		sent=0 t1 out=1 fin=stop src=
		sent=0 fail=connect`), Params{})
	if diff := cmp.Diff(map[string]int{"stop": 2, "length": 1}, f.FinishReasons); diff != "" {
		t.Errorf("finish reasons (-want +got):\n%s", diff)
	}
	want := map[results.TokenCount]int{results.CountUsage: 1, results.CountTokenize: 1, results.CountNone: 1}
	if diff := cmp.Diff(want, f.TokenSources); diff != "" {
		t.Errorf("token sources (-want +got):\n%s", diff)
	}
}

func TestSummarizeKeepsFiveDistinctFailureMessages(t *testing.T) {
	var records []results.Record
	for i := range 20 {
		records = append(records, results.Record{
			Index: 19 - i, SentS: new(0.0),
			Failure: results.Failf(results.FailHTTP, "status %d", 500+(19-i)/2),
		})
	}
	got := Summarize(records, Params{}).FailureSamples
	want := []string{
		"http-status: status 500", "http-status: status 501", "http-status: status 502",
		"http-status: status 503", "http-status: status 504",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("failure samples (-want +got):\n%s", diff)
	}
}

func TestSummarizeDoesNotDependOnTheOrderOfRecords(t *testing.T) {
	var cases []vllmCase
	readJSON(t, "vllm-metrics-newest.json", &cases)
	records := cases[1].records()
	want := Summarize(records, cases[1].params())
	slices.Reverse(records)
	if diff := cmp.Diff(want, Summarize(records, cases[1].params())); diff != "" {
		t.Errorf("figures of reversed records (-want +got):\n%s", diff)
	}
}

func TestPerReplicaAddsUp(t *testing.T) {
	records := parseRecords(t, `
		sent=0 t1 t2 in=4 out=2 replica=0
		sent=0 t1 in=4 out=1 replica=2
		sent=0 fail=connect replica=2`)
	p := Params{DurationS: 2, Asked: 3}
	all := PerReplica(records, 3, p)
	var got []string
	for _, r := range all {
		got = append(got, fmt.Sprintf("%d: %s", r.Replica, show(r.Figures, "requests rates")))
	}
	want := []string{
		"0: requests 1/1/0/0, rates 0.5/1/3", "1: requests 0/0/0/0, rates 0/0/0",
		"2: requests 2/1/1/0, rates 0.5/0.5/2.5",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("PerReplica (-want +got):\n%s", diff)
	}
}

func TestTTFTIsExact(t *testing.T) {
	f := Summarize(parseRecords(t, "sent=0 t0.1 t0.3 out=2"), Params{Percentiles: []float64{99}})
	if *f.TTFT.Mean != 0.1 || *At(f.E2EL, 99) != 0.3 || At(f.E2EL, 50) != nil {
		t.Errorf("ttft, e2el p99, e2el p50 = %v, %v, %v; want 0.1, 0.3, null", *f.TTFT.Mean, *At(f.E2EL, 99),
			At(f.E2EL, 50))
	}
}

// An answer that was not streamed says when its last token came and nothing
// of the first.
func TestWholeAnswersHaveNoFirstToken(t *testing.T) {
	records := parseRecords(t, "sent=0 w2 end=2 out=8 in=4 fin=stop")
	f := Summarize(records, Params{DurationS: 2})
	if f.Completed != 1 || f.E2EL.N != 1 || *f.E2EL.Mean != 2 {
		t.Errorf("completed %d, E2EL %+v, want one of 2 s", f.Completed, f.E2EL)
	}
	if f.TTFT.N+f.TPOT.N+f.ITL.N+f.TTFTFromIntended.N != 0 {
		t.Errorf("TTFT %d, TPOT %d, ITL %d, from intended %d samples, want none", f.TTFT.N, f.TPOT.N, f.ITL.N,
			f.TTFTFromIntended.N)
	}
}

// TestOneChunkHasNoTPOT: of an answer that came as one chunk nothing is known of
// the time between its tokens.
func TestOneChunkHasNoTPOT(t *testing.T) {
	for text, want := range map[string]*float64{
		"sent=0 t1 out=40":                     nil,
		"sent=0 t1 t3 out=3":                   new(1.0),
		"sent=0 r1 e2 e3 e4 e5 t6 t7 t8 out=7": new(1.0), // four tokens were held back
		"sent=0 r1 e2 t3 t4 t5 out=3":          new(1.0), // one empty chunk is not a token
		"sent=0 e1 e2 e3 e4 t5 t6 out=2":       new(1.0), // the server counts none of the empty ones
		"sent=0 e1 e2 e3 e4 t5 out=5":          nil,
	} {
		records := parseRecords(t, text)
		got := Observe(&records[0], IsToken).TPOT()
		if (got == nil) != (want == nil) || got != nil && (*got-*want > 1e-9 || *want-*got > 1e-9) {
			t.Errorf("%s: TPOT %v, want %v", text, got, want)
		}
	}
}

func TestToolCalls(t *testing.T) {
	record := func(kinds string, calls *results.ToolCalls) results.Record {
		r := results.Record{SentS: new(1.0), ChunkKinds: kinds, ToolCalls: calls}
		for i := range kinds {
			r.ChunkS = append(r.ChunkS, 2+float64(i))
		}
		return r
	}
	records := []results.Record{
		record("rccf", &results.ToolCalls{N: 2}),
		record("ttcf", &results.ToolCalls{N: 1, Invalid: 1, Problem: "p"}),
		record("rcf", &results.ToolCalls{N: 1, Invalid: 1, Problem: "p"}),
		record("w", &results.ToolCalls{N: 1}),
		record("ttf", &results.ToolCalls{}),
		record("tcf", nil),
	}
	failed := record("c", &results.ToolCalls{N: 1})
	failed.Failure = results.Failf(results.FailTruncated, "cut")

	f := Summarize(append(records, failed), Params{DurationS: 1}).Tools
	got := []any{f.Requests, f.WithCall, f.Valid, f.Calls, *f.CallShare, *f.ValidShare, f.FirstCall.N, *f.FirstCall.Max}
	if diff := cmp.Diff([]any{5, 4, 2, 5, 0.8, 0.5, 3, 3.0}, got); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"p"}, f.Problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if f := Summarize(records[5:], Params{DurationS: 1}).Tools; f != nil {
		t.Errorf("figures without tools: %+v", f)
	}
}

func TestToolCallsAreDoubted(t *testing.T) {
	for _, c := range []struct {
		figures results.ToolFigures
		want    string
	}{
		{results.ToolFigures{Requests: 9}, "9 requests offered tools, and no answer calls one"},
		{results.ToolFigures{Requests: 40, WithCall: 40, Valid: 38}, ""},
		{
			results.ToolFigures{Requests: 40, WithCall: 40, Valid: 37, Problems: []string{"p"}},
			"3 of 40 answers with tool calls have an invalid one (7.5 %): p",
		},
	} {
		got := ""
		for _, w := range Warnings(Evidence{Figures: results.Figures{Tools: &c.figures}}) {
			if w.Code == results.WarnToolCalls {
				got = w.Message
			}
		}
		if got != c.want {
			t.Errorf("%+v: got %q, want %q", c.figures, got, c.want)
		}
	}
}

func TestAudio(t *testing.T) {
	record := func(seconds float64) results.Record {
		return results.Record{SentS: new(1.0), ChunkKinds: "t", ChunkS: []float64{2}, AudioS: seconds}
	}
	failed := record(100)
	failed.Failure = results.Failf(results.FailTruncated, "cut")

	f := Summarize([]results.Record{record(2.5), record(7.5), failed}, Params{DurationS: 4})
	if f.AudioS == nil || *f.AudioS != 10 || f.RTFx == nil || *f.RTFx != 2.5 {
		t.Errorf("audio %v s, RTFx %v; want 10, 2.5", f.AudioS, f.RTFx)
	}
	if f := Summarize([]results.Record{record(0)}, Params{DurationS: 2}); f.AudioS != nil || f.RTFx != nil {
		t.Errorf("audio %v s, RTFx %v; want none", f.AudioS, f.RTFx)
	}
}

func TestImages(t *testing.T) {
	record := func(images int) results.Record {
		return results.Record{SentS: new(1.0), ChunkKinds: "t", ChunkS: []float64{2}, Images: images}
	}
	failed := record(100)
	failed.Failure = results.Failf(results.FailTruncated, "cut")

	f := Summarize([]results.Record{record(2), record(0), record(3), failed}, Params{DurationS: 2})
	if f.Images == nil || *f.Images != 5 || f.ImageThroughput == nil || *f.ImageThroughput != 2.5 {
		t.Errorf("images %v, %v a second; want 5, 2.5", f.Images, f.ImageThroughput)
	}
	if f := Summarize([]results.Record{record(0)}, Params{DurationS: 2}); f.Images != nil || f.ImageThroughput != nil {
		t.Errorf("images %v, %v a second; want none", f.Images, f.ImageThroughput)
	}
}
