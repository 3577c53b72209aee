package parts

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// record is a request whose first token came after ttft seconds and whose second, the
// last, a second later.
func record(class, adapter string, ttft float64, failed bool) results.Record {
	r := results.Record{
		Class: class, Adapter: adapter, SentS: new(1.0), EndS: 2 + ttft, ChunkS: []float64{1 + ttft, 2 + ttft},
		ChunkKinds: "tt", OutputTokens: new(2), OutputTokensSource: results.CountUsage,
	}
	if failed {
		r.Failure = results.Failf(results.FailInternal, "no")
	}
	return r
}

func settings() *spec.Settings {
	return &spec.Settings{Classes: []spec.Class{
		{
			Name: "chat", Share: 0.75, Adapters: []spec.Adapter{{Name: "a", Share: 0.5}, {Name: "b", Share: 0.5}},
			GoodputS: map[string]float64{"ttft": 0.3},
		},
		{Name: "batch", Share: 0.25},
	}}
}

func TestOf(t *testing.T) {
	records := []results.Record{
		record("chat", "a", 0.2, false), record("batch", "", 5, false), record("chat", "b", 0.4, false),
		record("chat", "a", 0.2, true),
	}
	s := settings()
	p := metrics.Params{DurationS: 10, ClassGoals: Goals(s)}
	got := Of(records, p, s, map[Kind]int{{"chat", "a"}: 3, {"chat", "b"}: 1, {"batch", ""}: 1})

	type row struct {
		Part                           string
		Asked, Completed, Failed, Sent int
		TTFT, Rate                     float64
		Goodput                        any
	}
	var rows []row
	for _, part := range got {
		f := part.Figures
		r := row{
			string(part.By) + " " + part.Name, f.Asked, f.Completed, f.Failed, f.Asked - f.Unsent, *f.TTFT.Mean,
			*f.RequestThroughput, nil,
		}
		if f.RequestGoodput != nil {
			r.Goodput = *f.RequestGoodput
		}
		rows = append(rows, r)
	}
	near := cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })
	if diff := cmp.Diff([]row{
		{"class chat", 4, 2, 1, 3, 0.3, 0.2, 0.1},
		{"class batch", 1, 1, 0, 1, 5, 0.1, nil},
		{"adapter a", 3, 1, 1, 2, 0.2, 0.1, 0.1},
		{"adapter b", 1, 1, 0, 1, 0.4, 0.1, 0.0},
	}, rows, near); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

// TestNoAnswers: a part none of whose requests succeeded did no work in a pass that ran,
// by every rate that the part has.
func TestNoAnswers(t *testing.T) {
	failed := record("batch", "", 5, true)
	failed.Images, failed.AudioS = 2, 1.5
	s := settings()
	got := Of([]results.Record{record("chat", "a", 0.2, false), failed}, metrics.Params{DurationS: 10}, s, nil)

	f := got[1].Figures
	for name, rate := range map[string]*float64{
		"request_throughput": f.RequestThroughput, "output_throughput": f.OutputThroughput,
		"total_token_throughput": f.TotalTokenThroughput, "image_throughput": f.ImageThroughput, "rtfx": f.RTFx,
	} {
		if rate == nil || *rate != 0 {
			t.Errorf("%s of a class without answers = %v, want 0", name, rate)
		}
	}
	if f.TTFT.Mean != nil || got[0].Figures.ImageThroughput != nil {
		t.Errorf("mean TTFT %v, images/s of a class without images %v, want neither", f.TTFT.Mean,
			got[0].Figures.ImageThroughput)
	}
}

// TestWholeGoodput: the goodput of the pass holds each request to the goals of its class.
func TestWholeGoodput(t *testing.T) {
	records := []results.Record{
		record("chat", "a", 0.2, false), record("batch", "", 5, false), record("chat", "b", 0.4, false),
	}
	f := metrics.Summarize(records, metrics.Params{DurationS: 10, ClassGoals: Goals(settings())})
	if f.RequestGoodput == nil || *f.RequestGoodput != 0.2 {
		t.Errorf("goodput %v, want 0.2: one of chat is too slow, and batch has no goals", f.RequestGoodput)
	}
}

func TestAllAlike(t *testing.T) {
	if got := Of([]results.Record{record("", "", 1, false)}, metrics.Params{}, &spec.Settings{}, nil); got != nil {
		t.Errorf("a load without classes has parts: %v", got)
	}
}

// TestStages: latencies are of the requests that were due in a stage, rates of what came
// in it.
func TestStages(t *testing.T) {
	at := func(due, sent, ttft float64) results.Record {
		r := record("", "", ttft, false)
		r.IntendedS, r.SentS = due, new(sent)
		r.ChunkS, r.EndS = []float64{sent + ttft, sent + ttft + 1}, sent+ttft+1
		return r
	}
	stages := []spec.Stage{
		{Name: "calm", RequestRate: new(1.0), Duration: 10e9}, {Name: "peak", RequestRate: new(5.0), Duration: 5e9},
	}
	// the second is due in the first stage, and answered in the second
	records := []results.Record{at(1, 1, 0.5), at(9.5, 9.5, 2), at(12, 12, 0.25), at(15, 15, 0.25)}
	got := Of(records, metrics.Params{DurationS: 20}, &spec.Settings{Stages: stages}, nil)
	if len(got) != 2 {
		t.Fatalf("%d parts, want 2", len(got))
	}
	for i, want := range []struct {
		n                    int
		ttft, rate, from, to float64
	}{{2, 1.25, 0.1, 0, 10}, {2, 0.25, 0.4, 10, 15}} {
		part, f := got[i], got[i].Figures
		if part.Name != stages[i].Name || part.By != results.ByStage || f.Completed != want.n ||
			*f.TTFT.Mean != want.ttft || *f.RequestThroughput != want.rate || *part.FromS != want.from ||
			*part.ToS != want.to || f.TotalTokenThroughput != nil {
			t.Errorf("stage %s from %v to %v: n %d, mean TTFT %v, %v requests/s, want %+v", part.Name, *part.FromS,
				*part.ToS, f.Completed, *f.TTFT.Mean, *f.RequestThroughput, want)
		}
	}
}

// TestNumbersHaveNoOutputTokens: a part has no output tokens of an API that answers with
// numbers, whether a request of the part succeeded or not.
func TestNumbersHaveNoOutputTokens(t *testing.T) {
	answered, failed := record("chat", "a", 0.2, false), record("batch", "", 5, true)
	answered.OutputTokens, answered.OutputTokensSource, answered.InputTokens = nil, results.CountNumbers, new(30)
	s := settings()
	s.Stages = []spec.Stage{{Name: "late", Duration: time.Second, RequestRate: new(1.0)}}
	failed.IntendedS, answered.IntendedS = 0.5, 5

	p := metrics.Params{API: "embeddings", DurationS: 10}
	parts := slices.Concat(Of([]results.Record{answered, failed}, p, s, nil), Of([]results.Record{failed}, p, s, nil))
	for i, part := range parts {
		f := part.Figures
		if f.TotalOutputTokens != nil || f.OutputThroughput != nil {
			t.Errorf("%s %s: output tokens %v, tok/s %v, want neither", part.By, part.Name, f.TotalOutputTokens,
				f.OutputThroughput)
		}
		want := 0.0
		if i == 0 {
			want = 3 // of the input of the request that was answered
		}
		if part.By == results.ByClass && (f.TotalTokenThroughput == nil || *f.TotalTokenThroughput != want) {
			t.Errorf("%s: total tok/s %v, want %g", part.Name, f.TotalTokenThroughput, want)
		}
	}
}
