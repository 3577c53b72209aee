package metrics

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/results"
)

func summarize(t *testing.T, records string, p Params) results.Figures {
	t.Helper()
	return Summarize(parseRecords(t, records), p)
}

func TestITLIsOnlyBetweenTokens(t *testing.T) {
	single := summarize(t, "sent=0 t1 t2 t3 out=3", Params{DurationS: 3})
	several := summarize(t, "sent=0 t1 t2 t3 out=12", Params{DurationS: 3})
	if single.ITL.N != 2 || single.ICL.N != 2 {
		t.Errorf("one token a chunk: ITL n = %d, ICL n = %d, want 2 and 2", single.ITL.N, single.ICL.N)
	}
	if several.ITL.N != 0 || several.ITL.Mean != nil || several.ICL.N != 2 {
		t.Errorf("four tokens a chunk: ITL = %+v, ICL n = %d, want none and 2", several.ITL, several.ICL.N)
	}
	if diff := cmp.Diff(map[int]int{4: 1}, several.ChunkSizes); diff != "" {
		t.Errorf("tokens per chunk (-want +got):\n%s", diff)
	}
}

func TestOutputLengths(t *testing.T) {
	got := summarize(t,
		"sent=0 t1 out=2 asked=8 fin=stop\nsent=0 t1 out=8 asked=8\nsent=0 t1 out=4 asked=8 fin=length\n"+
			"sent=0 t1 out=9\nsent=0 t1 asked=8", Params{}).Lengths
	want := &results.OutputLengths{N: 3, AskedMean: 8, ReceivedMean: 14.0 / 3, Share: 14.0 / 24, EarlyEOS: 1.0 / 3}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("output lengths (-want +got):\n%s", diff)
	}
	if got := summarize(t, "sent=0 t1 out=2", Params{}).Lengths; got != nil {
		t.Errorf("output lengths without any asked for = %+v, want null", got)
	}
}

func TestSeries(t *testing.T) {
	got := summarize(t, "sent=0 t0.5 t1.5 out=4\nsent=0 t2.9 t2.95 out=2\nsent=0 t9 fail=truncated", Params{}).Series
	want := &results.Series{
		Requests: []int{0, 1, 1}, OutputTokens: []float64{2, 2, 2}, PeakRequests: 1,
		PeakOutputTokens: new(2.0),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}

	// tokens of an answer of unknown length are unknown; more chunks than tokens are shares of them
	got = summarize(t, "sent=0 t0.5 t1.5 out=4\nsent=0 t0.2 t0.4", Params{}).Series
	want = &results.Series{Requests: []int{1, 1}, PeakRequests: 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("series with an unknown length (-want +got):\n%s", diff)
	}
	got = summarize(t, "sent=0 t0.1 t0.2 t1.3 t1.4 out=2", Params{}).Series
	want = &results.Series{
		Requests: []int{0, 1}, OutputTokens: []float64{1, 1}, PeakRequests: 1, PeakOutputTokens: new(1.0),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("series of more chunks than tokens (-want +got):\n%s", diff)
	}

	if got := summarize(t, "sent=0 fail=connect", Params{}).Series; got != nil {
		t.Errorf("series of nothing = %+v, want null", got)
	}
}

func TestPromptBuckets(t *testing.T) {
	got := summarize(t, "sent=0 t1 in=16 out=1\nsent=0 t3 in=31 out=1\nsent=0 t5 local=100 out=1\nsent=0 t7 out=1",
		Params{}).Prompts
	var text []string
	for _, b := range got {
		text = append(text, fmt.Sprintf("%d-%d: n %d, TTFT %v, TPOT n %d", b.From, b.To, b.N, *b.TTFT.Mean, b.TPOT.N))
	}
	if diff := cmp.Diff([]string{"16-31: n 2, TTFT 2, TPOT n 0", "64-127: n 1, TTFT 5, TPOT n 0"}, text); diff != "" {
		t.Errorf("by prompt length (-want +got):\n%s", diff)
	}
	if got := summarize(t, "sent=0 t1 in=16 out=1\nsent=0 t1 in=17 out=1", Params{}).Prompts; got != nil {
		t.Errorf("by prompt length of one class = %v, want null", got)
	}
}

func TestSteadyState(t *testing.T) {
	// Two at a time: a burst at 0 with a slow start, then one per second,
	// and a tail of one.
	loop := "sent=0 t4 out=1\nsent=0 t5 out=1\nsent=4 t5.5 out=1\nsent=5 t6 out=1\nsent=5.5 t6.5 out=1\nsent=6 t9 out=1"
	for _, tt := range []struct {
		name, records string
		max           *int
		want          string
	}{
		{"closed loop", loop, new(2), "4 to 6.5: n 4, 1.6 req/s, TTFT 1.6"}, // answers at 4, 5, 5.5, 6
		{"open loop", loop, nil, "4 to 6: n 3, 1.5 req/s, TTFT 1.2"},
		{"the cap is never reached", loop, new(8), "null"},
		{"a burst alone", "sent=0 t4 out=1\nsent=0 t5 out=1", new(2), "null"},
		{"nothing", "sent=0 fail=connect", new(2), "null"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := "null"
			if s := summarize(t, tt.records, Params{MaxConcurrency: tt.max}).Steady; s != nil {
				got = fmt.Sprintf("%g to %g: n %d, %.1f req/s, TTFT %.1f", s.FromS, s.ToS, s.N,
					s.RequestThroughput, *s.TTFT.Mean)
			}
			if got != tt.want {
				t.Errorf("steady state = %s, want %s", got, tt.want)
			}
		})
	}
}

// answers are records of texts, answered at random times.
func answers(texts ...string) []results.Record {
	var records []results.Record
	for i, text := range texts {
		sum := sha256.Sum256([]byte(text))
		records = append(records, results.Record{
			Index: i, SentS: new(0.0), ChunkS: []float64{rand.Float64()}, ChunkKinds: "t", OutputTokens: new(1),
			Text: text, TextSHA256: hex.EncodeToString(sum[:]),
		})
	}
	rand.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	return records
}

func TestAnswers(t *testing.T) {
	cold := Params{Temperature: new(0.0)}
	of := func(p Params, texts ...string) *results.Figures { return new(Summarize(answers(texts...), p)) }
	a := of(cold, "x", "y", "z", "z")
	if a.Answers.N != 4 || a.Answers.Identical != 2 || a.Answers.SHA256 == nil || len(a.Answers.Marks) != 16 {
		t.Errorf("answers = %+v, want 4, 2 identical, a hash and 16 digits", a.Answers)
	}
	if b := of(Params{Temperature: new(0.7)}, "x"); b.Answers.SHA256 != nil || b.Answers.Marks != "" {
		t.Errorf("answers at temperature 0.7 have a hash")
	}
	for _, tt := range []struct {
		b    *results.Figures
		want string
	}{
		{of(cold, "x", "y", "z", "z"), "4 of 4 answers are equal (100.0 %)"},
		{
			of(cold, "x", "Y", "z", "Z"),
			"2 of 4 answers are equal (50.0 %), the others for at least 0 bytes (median 0)",
		},
		{ // the order counts
			of(cold, "y", "x", "z", "z"),
			"2 of 4 answers are equal (50.0 %), the others for at least 0 bytes (median 0)",
		},
		{of(cold, "x", "y", "z"), ""},
		{nil, ""},
	} {
		got := ""
		if c := CompareAnswers(a, tt.b); c != nil {
			got = c.Text()
		}
		if got != tt.want {
			t.Errorf("CompareAnswers = %q, want %q", got, tt.want)
		}
	}
}

func TestIsRepetitive(t *testing.T) {
	for text, want := range map[string]bool{
		strings.Repeat("the ", 20): true, strings.Repeat("!", 40): true, "the the the": false, "": false,
		"a cat sat on the mat and the dog sat on the cat": false, strings.Repeat("abcdefgh", 10): false,
		strings.Repeat("the ", 9) + "end": true,
	} {
		if got := isRepetitive(text); got != want {
			t.Errorf("isRepetitive(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestDoubtsAboutClientProxyAndAnswers(t *testing.T) {
	even := "sent=0"
	for i := range 30 {
		even += fmt.Sprintf(" t%g", 0.1+0.02*float64(i))
	}
	bursts := "sent=0"
	for i := range 32 {
		bursts += fmt.Sprintf(" t%g", 0.1+0.16*float64(i/8)+0.00001*float64(i%8))
	}
	for _, tt := range []struct {
		name    string
		records []results.Record
		client  results.ClientReport
		want    string
	}{
		{"paced", parseRecords(t, even+" out=30"), results.ClientReport{}, ""},
		{"bursts", parseRecords(t, bursts+" out=32"), results.ClientReport{}, "buffered"},
		{"read late, stamped by the kernel", parseRecords(t, even+" out=30"), results.ClientReport{
			Stamps: "kernel", LagP99S: new(0.5),
		}, ""},
		{"no core for longer than a gap", parseRecords(t, even+" out=30"), results.ClientReport{
			StarvedMaxS: new(0.0201),
		}, "client-starved"},
		{"no core in a pass without any success", parseRecords(t, "sent=0 fail=refused"), results.ClientReport{
			StarvedMaxS: new(0.5),
		}, "failed-requests"},
		{"no core for a shorter time", parseRecords(t, even+" out=30"), results.ClientReport{
			StarvedMaxS: new(0.0199),
		}, ""},
		{
			"idle", parseRecords(t, even+" out=30"),
			results.ClientReport{DurationS: 10, CPUs: 2, CPUSeconds: new(17.9)},
			"",
		},
		{
			"busy", parseRecords(t, even+" out=30"),
			results.ClientReport{DurationS: 10, CPUs: 2, CPUSeconds: new(18.1)},
			"client-busy",
		},
		{
			"cores unknown", parseRecords(t, even+" out=30"),
			results.ClientReport{DurationS: 10, CPUSeconds: new(18.1)},
			"",
		},
		{"sense", answers("a", "b", "c", "d", "e", "f", "g", "h"), results.ClientReport{}, ""},
		{"one answer to all", answers(slices.Repeat([]string{"yes"}, 8)...), results.ClientReport{}, "answers"},
		{"too few to tell", answers("yes", "yes"), results.ClientReport{}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := Evidence{Records: tt.records, Figures: Summarize(tt.records,
				Params{DurationS: 1, Percentiles: []float64{50}}), Client: &tt.client}
			var codes []string
			warnings := Warnings(e)
			for _, w := range warnings {
				if w.Code != results.WarnTokenSource {
					codes = append(codes, string(w.Code))
				}
			}
			if got := strings.Join(codes, " "); got != tt.want {
				t.Errorf("warnings = %q (%v), want %q", got, warnings, tt.want)
			}
		})
	}
}

// Whatever the records, the figures keep to what must hold between them.
func TestFiguresHoldTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		records := randomRecords(rng)
		p := Params{
			DurationS: 10, MaxConcurrency: new(1 + rng.IntN(8)),
			API: []string{"chat", "completions"}[rng.IntN(2)], Temperature: new(0.0),
		}
		f := Summarize(records, p)
		if f.Completed+f.Failed+f.Unsent != f.Asked {
			t.Fatalf("completed %d + failed %d + unsent %d != asked %d", f.Completed, f.Failed, f.Unsent, f.Asked)
		}
		if s := f.Series; s != nil {
			sum := 0
			for _, n := range s.Requests {
				sum += n
			}
			if sum != f.Completed {
				t.Fatalf("the series has %d requests, completed are %d", sum, f.Completed)
			}
		}
		if s := f.Steady; s != nil && (s.N > f.Completed || !(s.ToS > s.FromS)) {
			t.Fatalf("steady state %+v of %d requests", s, f.Completed)
		}
		n := 0
		for _, b := range f.Prompts {
			n += b.N
		}
		if n > f.Completed {
			t.Fatalf("prompt classes hold %d requests of %d", n, f.Completed)
		}
		for _, g := range generations() {
			c, differences := compatAlone(records, p, g)
			if c.Completed+c.Failed != f.Completed+f.Failed {
				t.Fatalf("%s sees %d requests, bench %d", g, c.Completed+c.Failed, f.Completed+f.Failed)
			}
			if c.Completed != f.Completed && len(differences) == 0 {
				t.Fatalf("%s has %d successes, bench %d, and no difference is named", g, c.Completed, f.Completed)
			}
		}
	}
}

func randomRecords(rng *rand.Rand) []results.Record {
	classes := []results.FailureClass{
		results.FailTransport, results.FailTruncated, results.FailInBand,
		results.FailHTTP, results.FailProtocol,
	}
	var records []results.Record
	for i := range 1 + rng.IntN(20) {
		sent := 5 * rng.Float64()
		r := results.Record{
			Index: i, SentS: &sent, EndS: sent, LocalInputTokens: new(1 + rng.IntN(100)),
			AskedOutputTokens: rng.IntN(10),
		}
		for range rng.IntN(6) {
			r.EndS += rng.Float64()
			r.ChunkS = append(r.ChunkS, r.EndS)
			r.ChunkKinds += string("tttkcerfuxo"[rng.IntN(11)])
		}
		if rng.IntN(2) == 0 {
			r.OutputTokens, r.OutputTokensSource, r.TextTokens = new(rng.IntN(20)), results.CountUsage,
				new(rng.IntN(20))
		}
		if rng.IntN(2) == 0 {
			r.DoneS = &r.EndS
		}
		if rng.IntN(4) == 0 {
			r.Failure = results.Failf(classes[rng.IntN(len(classes))], "it broke")
		}
		records = append(records, r)
	}
	return records
}

// TestCompareResent knows answers that differ, and those that no model made.
func TestCompareResent(t *testing.T) {
	pass := parseRecords(t, strings.Repeat("sent=0 t1 t3.1 t5.2 t7.3 t9.4 out=5\n", 4)) // slower than alone
	fresh := parseRecords(t, strings.Repeat("sent=0 t1 t1.1 t1.2 t1.3 t1.4 out=5\n", 3))
	again := parseRecords(t, "sent=9 t10 t10.05 t10.1 t10.15 t10.2 out=5\nsent=11 t12 out=5\n"+
		"sent=13 t14 t14.001 out=5\nsent=15 fail=connect")
	for i, text := range []string{"one and the same", "begins like this", "third", "fourth"} {
		pass[i].Index, again[i].Index = i, i
		pass[i].TextSHA256, pass[i].TextTrail = text, results.TrailOf([]byte(text))
		again[i].TextSHA256, again[i].TextTrail = text, pass[i].TextTrail
	}
	again[1].TextSHA256, again[1].TextTrail = "another", results.TrailOf([]byte("begins otherwise"))

	got := CompareResent(pass, again, fresh, len(pass), new(0.0))
	if got.Sent != 4 || got.Failed != 1 || got.Answers == nil || *got.AtOnce != 2 ||
		math.Abs(*got.FreshTPOT-0.1) > 1e-9 {
		t.Fatalf("resent = %+v", got)
	}
	want := "2 of 3 answers are equal (66.7 %), the others for at least 6 bytes (median 6)"
	if text := got.Answers.Text(); text != want {
		t.Errorf("answers: %s, want %s", text, want)
	}
	var codes []results.WarningCode
	for _, w := range []*results.Warning{warnResent(Evidence{Resent: got}), warnAtOnce(Evidence{Resent: got})} {
		codes = append(codes, w.Code)
	}
	if !slices.Equal(codes, []results.WarningCode{results.WarnAnswersDiffer, results.WarnAnswersCached}) {
		t.Errorf("warnings = %v", codes)
	}

	got = CompareResent(pass, again, fresh, len(pass), nil)
	if got.Answers != nil {
		t.Errorf("answers at an unknown temperature are compared: %+v", got.Answers)
	}
	same := CompareResent(pass, pass, fresh, len(pass), new(0.0))
	if e := (Evidence{Resent: same}); warnResent(e) != nil || warnAtOnce(e) != nil || *same.AtOnce != 0 {
		t.Errorf("the same records again: %+v, %v, %v", same, warnResent(e), warnAtOnce(e))
	}
}
