package status

import (
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/launchers/scrape"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// streamed is a record of an answer of n tokens, one per chunk.
func streamed(sent, first, gap float64, n int) results.Record {
	r := results.Record{
		SentS: &sent, OutputTokens: &n, ChunkKinds: "r" + strings.Repeat("t", n) + "f",
		ChunkS: []float64{first},
	}
	for i := range n + 1 {
		r.ChunkS = append(r.ChunkS, first+float64(i)*gap)
	}
	return r
}

// begun is a Live that was started and that nobody updates.
func begun(t *testing.T) *Live {
	folder, err := store.Create(t.TempDir(), "s", "r")
	if err != nil {
		t.Fatal(err)
	}
	l := &Live{Folder: folder}
	end := l.Start(t.Context())
	t.Cleanup(end)
	return l
}

func TestLiveFigures(t *testing.T) {
	l := begun(t)
	l.BeginStep(results.StepRef{ID: "a_c1_r1", Variant: "a"}, 0)
	l.BeginPass(results.Asked{NumPrompts: 10})
	for range 100 {
		r := streamed(1, 1.5, 0.01, 11)
		l.Record(&r)
	}
	failed := results.Record{Failure: results.Failf(results.FailHTTP, "500")}
	l.Record(&failed)
	l.progress(load.Progress{Completed: 4, Failed: 1, InFlight: 2, Total: 10, OutputChunks: 100})
	l.Metrics(results.ServerSample{Replica: 0, Values: map[string]float64{scrape.Running: 2, scrape.KVUse: 0.25}})
	l.Metrics(results.ServerSample{Replica: 1, Values: map[string]float64{scrape.Running: 3, scrape.KVUse: 0.5}})
	now := l.Snapshot()
	if near := func(v *float64, want float64) bool {
		return v != nil && *v > want*0.98 && *v < want*1.02
	}; now.Tokens == nil ||
		!near(now.Tokens.TTFT.P50, 0.5) || !near(now.Tokens.TPOT.P99, 0.01) || now.Tokens.Output == nil ||
		*now.Tokens.Output != 1100 {
		t.Errorf("tokens are %+v, want TTFT 0.5, TPOT 0.01, 1100 tokens", now.Tokens)
	}
	if r := now.Requests; r == nil || r.Done != 5 || r.Failed != 1 || r.InFlight != 2 || *r.Total != 10 ||
		*now.Share != 0.5 {
		t.Errorf("requests are %+v, want 5 of 10", r)
	}
	if s := now.Server; s == nil || *s.Running != 5 || *s.KVUse != 0.5 || s.Waiting != nil {
		t.Errorf("server is %+v, want 5 running, the fullest cache, no queue", s)
	}
}

func TestLiveRate(t *testing.T) {
	at := time.Now()
	p := livePass{window: []chunksAt{{at, 0}, {at.Add(2 * time.Second), 100}}}
	if got := p.rate(); *got != 50 {
		t.Errorf("rate() = %g, want 50 chunks a second", *got)
	}
	p.chunks, p.tokens = 10, 30
	if got := p.rate(); *got != 150 {
		t.Errorf("rate() = %g, want 150: three tokens a chunk", *got)
	}
	if got := (&livePass{}).rate(); got != nil {
		t.Errorf("rate() = %g before anything is known, want null", *got)
	}
}

// A run's file is there while it runs, and gone afterwards.
func TestLiveFile(t *testing.T) {
	folder, err := store.Create(t.TempDir(), "s", "r")
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan results.Live, 100)
	l := &Live{Folder: folder, OnChange: func(l results.Live) { told <- l }}
	end := l.Start(t.Context())
	<-told
	l.Enter(results.LiveHooks, time.Minute, "before the run: fans")
	l.Update(Update{Kind: StepBegun})
	for now := range told {
		if now.Phase == results.LiveHooks {
			break
		}
	}
	end()
	if all, err := folder.ReadLive(); len(all) > 0 || err != nil {
		t.Errorf("ReadLive() = %v, %v after the end, want none", all, err)
	}
}

// A record costs no memory, and little time.
func TestLiveRecordAllocates(t *testing.T) {
	l := begun(t)
	r := streamed(1, 1.5, 0.01, 500)
	l.Record(&r)
	if n := testing.AllocsPerRun(100, func() { l.Record(&r) }); n > 0 {
		t.Errorf("record() allocates %g times", n)
	}
}

func BenchmarkLiveRecord(b *testing.B) {
	l := &Live{}
	r := streamed(1, 1.5, 0.01, 500)
	for b.Loop() {
		l.Record(&r)
	}
}

func TestLoading(t *testing.T) {
	bar := "Loading safetensors checkpoint shards:  40% Completed | 12/30 [00:01<00:04]"
	whole := "Loading safetensors checkpoint shards: 100% Completed | 30/30 [00:01<00:04]"
	for _, test := range []struct {
		lines []string
		want  string
	}{
		{nil, "waiting for health"},
		{[]string{"INFO x", bar, "INFO y"}, "weights 12/30"},
		{[]string{bar, whole}, "weights 30/30"},
		{[]string{bar, whole, "INFO compiling"}, "waiting for health"},
	} {
		if got, _ := (*Live)(nil).loading(test.lines, "health"); got != test.want {
			t.Errorf("loading(%q) = %q, want %q", test.lines, got, test.want)
		}
	}
}
