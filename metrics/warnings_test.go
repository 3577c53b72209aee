package metrics

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/internal/numtest"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/codes"
)

func TestWarnings(t *testing.T) {
	cap8, rate := new(8), new(10.0)
	tests := []struct {
		name    string
		records string
		asked   results.Asked
		client  *results.ClientReport
		want    string // code: part of the message; "": none
		verdict results.Verdict
	}{
		{"sound", "sent=0 t1 in=10 local=10 out=1 asked=1", results.Asked{MaxConcurrency: cap8}, nil, "", results.OK},
		{
			"failures", "sent=0 t1 out=1\n sent=0 fail=connect\n sent=0 fail=connect\n sent=0 fail=truncated",
			results.Asked{},
			nil,
			"failed-requests: 3 of 4 requests failed and do not count in latencies and tokens: connect 2, truncated 1",
			results.Suspect,
		},
		{
			"short answers", "sent=0 t1 out=1 asked=2",
			results.Asked{},
			nil,
			"short-output: 50.0 % of the requested output tokens (1 of 2); answers ended by themselves", results.OK,
		},
		{
			"short answers against ignore_eos", "sent=0 t1 out=1 asked=2",
			results.Asked{IgnoreEOS: true},
			nil,
			"short-output: did not honour ignore_eos", results.Suspect,
		},
		{
			"longer than asked", "sent=0 t1 t2 t3 out=3 asked=1\n sent=0 t1 out=1 asked=1",
			results.Asked{},
			nil,
			"answer-too-long: 1 of 2 answers are longer than requested, one with 3 tokens where the limit was 1",
			results.Suspect,
		},
		{"the end mark counted too", "sent=0 t1 t2 out=2 asked=1", results.Asked{}, nil, "", results.OK},
		{
			"just long enough", strings.Repeat("sent=0 t1 out=1 asked=1\n", 19) + "sent=0 t1 out=0 asked=1",
			results.Asked{IgnoreEOS: true},
			nil, "", results.OK,
		},
		{
			"tokenized", "sent=0 t1 out=1 src=tokenize",
			results.Asked{},
			nil,
			"token-source: 1 of 1 answer are not from the server's usage (tokenize 1); counts may differ", results.OK,
		},
		{
			"chunks counted", "sent=0 t1 out=1 src=chunks\n sent=0 t1 out=1",
			results.Asked{},
			nil,
			"token-source: (chunks 1, usage 1); counting chunks gives a lower bound", results.Suspect,
		},
		{
			"no count", "sent=0 t1 src=none",
			results.Asked{},
			nil, "token-source: the total is not known",
			results.Suspect,
		},
		{
			"longer prompts", "sent=0 t1 in=20 local=10 out=1",
			results.Asked{API: "completions"},
			nil,
			"input-length: 20.0 tokens on average by the server's count, 10.0", results.OK,
		},
		{
			"shorter prompts", "sent=0 t1 in=5 local=10 out=1",
			results.Asked{API: "chat"},
			nil,
			"input-length: 5.0 tokens", results.OK,
		},
		{"a chat template", "sent=0 t1 in=50 local=10 out=1", results.Asked{API: "chat"}, nil, "", results.OK},
		{
			"asked, not counted here", "sent=0 t1 in=209 out=1",
			results.Asked{API: "chat", InputLen: new(64)},
			nil,
			"input-length: 209.0 tokens on average by the server's count, 64.0 were requested", results.OK,
		},
		{
			"truncated by the server", "sent=0 t1 in=4096 out=1",
			results.Asked{API: "ollama", InputLen: new(16000)},
			nil,
			"input-length: 4096.0 tokens on average by the server's count, 16000.0 were requested", results.OK,
		},
		{"images of bench load", "sent=0 t1 in=400 local=10 out=1", results.Asked{
			API: "chat", Dataset: "random-mm",
			InputLen: new(10),
		}, nil, "", results.OK},
		{
			"images", "sent=0 t1 in=400 local=10 out=1",
			results.Asked{API: "chat", Dataset: "random_mm"},
			nil,
			"", results.OK,
		},
		{"a start token", "sent=0 t1 in=11 local=10 out=1", results.Asked{API: "completions"}, nil, "", results.OK},
		{
			"warm cache", "sent=0 t1 in=10 out=1 cached=5",
			results.Asked{},
			nil,
			"prefix-cache: 5 prompt tokens (50.0 %) came from", results.OK,
		},
		{"the start token alone is cached", "sent=0 t1 in=100 out=1 cached=1", results.Asked{}, nil, "", results.OK},
		{"cold cache", "sent=0 t1 in=10 out=1 cached=0", results.Asked{}, nil, "", results.OK},
		{
			"late client", "sent=0 t1 out=1",
			results.Asked{},
			&results.ClientReport{LateP99S: new(0.0501)},
			"client-late: up to 50.1 ms later", results.Suspect,
		},
		{
			"late client that knows its bounds", "sent=0 written=0 t1 out=1",
			results.Asked{},
			&results.ClientReport{LateP99S: new(0.0501)},
			"client-late: up to 50.1 ms later", results.OK,
		},
		{
			"punctual client", "sent=0 t1 out=1",
			results.Asked{},
			&results.ClientReport{LateP99S: new(0.01)},
			"", results.OK,
		},
		{
			"stopped", "sent=0 t1 out=1\n fail=canceled",
			results.Asked{},
			&results.ClientReport{Interrupted: "Ctrl-C"},
			"interrupted: (Ctrl-C); 1 of 2 requests were never sent", results.Suspect,
		},
		{
			"tokens held back", "sent=0 r1 r2 e3 e4 e5 t6 t7 t8 out=6",
			results.Asked{},
			nil,
			"hidden-tokens: 50.0 % of the tokens of 1 answer came", results.OK,
		},
		{
			"several tokens a chunk", "sent=0 t1 t2 out=4",
			results.Asked{},
			nil,
			"tokens-per-chunk: 2.00 tokens on average", results.OK,
		},
		{
			"rate held back", strings.Join(sends(20, 0.1, 0.2), "\n"),
			results.Asked{RequestRate: rate},
			nil,
			"rate-not-reached: sent at 5.00/s instead of the scheduled 10.00/s", results.OK,
		},
		{
			"rate reached", strings.Join(sends(20, 0.1, 0.101), "\n"),
			results.Asked{RequestRate: rate},
			nil,
			"", results.OK,
		},
		{"all at once", strings.Join(sends(20, 0, 0.2), "\n"), results.Asked{}, nil, "", results.OK},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := Evidence{Records: parseRecords(t, tt.records), Asked: tt.asked, Client: tt.client}
			e.Figures = Summarize(e.Records, Params{DurationS: 1, Percentiles: []float64{50}})
			got := Warnings(e)
			if tt.want == "" {
				if len(got) != 0 {
					t.Errorf("Warnings = %v, want none", got)
				}
			} else {
				code, text, _ := strings.Cut(tt.want, ": ")
				if len(got) != 1 || string(got[0].Code) != code || !strings.Contains(got[0].Message, text) {
					t.Errorf("Warnings = %v, want one %q with %q", got, code, text)
				}
			}
			if verdict, failure := Verdict(e, got, 0); verdict != tt.verdict || failure != nil {
				t.Errorf("Verdict = %v, %v; want %v and no failure", verdict, failure, tt.verdict)
			}
		})
	}
}

// sends are n requests whose intended times lie meant apart, and the real sent.
func sends(n int, meant, sent float64) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = "intended=" + numtest.Format(float64(i)*meant) + " sent=" + numtest.Format(float64(i)*sent) +
			" t100 out=1"
	}
	return lines
}

func TestWarningsNameThinPercentiles(t *testing.T) {
	records := parseRecords(t, strings.Repeat("sent=0 t1 t2 t3 out=3\n", 600))
	e := Evidence{Records: records, Figures: Summarize(records,
		Params{DurationS: 1, Percentiles: []float64{50, 90, 99, 99.9}})}
	got := Warnings(e)
	want := "too few samples for p99, p99.9 of TTFT, TPOT, E2EL (there are 600, and p99.9 needs 10000); p99.9 of " +
		"ITL (there are 1200, and p99.9 needs 10000); not yet known at 95 %: p99.9 TTFT, TPOT, E2EL (2395 more " +
		"requests), p99.9 ITL (898 more requests)"
	if len(got) != 1 || got[0].Code != results.WarnFewSamples || got[0].Message != want {
		t.Errorf("Warnings = %v, want few-samples: %s", got, want)
	}
}

func TestVerdictFails(t *testing.T) {
	for _, tt := range []struct {
		name, records string
		asked         int
		minSuccess    float64
		want          string
	}{
		{
			"nothing succeeded", "sent=0 fail=connect", 0, 0,
			"no request of 1 succeeded; failures: connect 1; first: connect: it broke",
		},
		{
			"ended by us", "sent=0 fail=canceled\n sent=0 fail=connect", 0, 0,
			"no request of 2 succeeded; failures: canceled 1, connect 1; first: connect: it broke",
		},
		{"no records", "", 0, 0, "no request of 0 succeeded"},
		{
			"too many failed", "sent=0 t1 out=1\n sent=0 fail=connect", 0, 0.9,
			"1 of 2 requests succeeded (at least 90 % must); failures: connect 1; first: connect: it broke",
		},
		{
			"too many not sent", "sent=0 t1 out=1", 4, 0.5,
			"1 of 4 requests succeeded (at least 50 % must); never sent: 3",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			records := parseRecords(t, tt.records)
			e := Evidence{Records: records, Figures: Summarize(records, Params{Asked: tt.asked})}
			verdict, failure := Verdict(e, nil, tt.minSuccess)
			if verdict != results.Failed || failure == nil || failure.Class != results.FailRequests ||
				failure.Message != tt.want {
				t.Errorf("Verdict = %v, %v; want failed, requests-failed: %s", verdict, failure, tt.want)
			}
		})
	}
}

func TestVerdictHeedsWarningsOfOthers(t *testing.T) {
	records := parseRecords(t, "sent=0 t1 out=1")
	e := Evidence{Records: records, Figures: Summarize(records, Params{})}
	for code, want := range map[results.WarningCode]results.Verdict{
		results.WarnCounters: results.Suspect, results.WarnForeignGPUUser: results.Suspect,
		results.WarnClientLimit: results.Suspect,
		results.WarnClientBusy:  results.OK, results.WarnClientStarved: results.OK,
		results.WarnBuffered: results.OK, results.WarnAnswers: results.OK,
		results.WarnSimulated: results.OK, results.WarnRetried: results.OK, results.WarnUnclean: results.OK,
		results.WarnFewSamples: results.OK,
	} {
		if got, _ := Verdict(e, []results.Warning{{Code: code}}, 1); got != want {
			t.Errorf("Verdict with warning %s = %v, want %v", code, got, want)
		}
	}
}

// The severities that reports explain are those of the verdict: a warning that
// disqualifies makes its step suspect, and no other does without further evidence.
func TestSeveritiesAreThoseOfTheVerdict(t *testing.T) {
	plain := Evidence{Figures: results.Figures{ClientAtMost: &results.ClientBound{}}}
	for _, w := range codes.Warnings() {
		if suspect := doubtful(results.WarningCode(w.Code), plain); suspect != (w.Severity == codes.Disqualifies) {
			t.Errorf("%s %s in results/codes, and makes a step suspect: %t", w.Code, w.Severity, suspect)
		}
	}
}
