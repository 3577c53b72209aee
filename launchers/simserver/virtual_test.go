package simserver

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// trial is one closed-loop run of a scheduler in virtual time.
type trial struct {
	cfg         simengine.Config
	concurrency int
	requests    int
	prompt      int // tokens
	output      int
	samePrompt  bool
}

// figures are what a perfect client would see of a trial.
type figures struct {
	outputTPS   float64
	ttft, tpot  float64 // means, s
	preemptions int64
	acceptLen   float64
}

// epoch is where virtual time begins.
var epoch = time.Unix(1e9, 0)

func mustResolve(t testing.TB, c simengine.Config) simengine.Settings {
	t.Helper()
	s, err := c.Resolve()
	if err != nil {
		t.Fatalf("resolve(%+v): %v", c, err)
	}
	return s
}

// vary spreads lengths as chat logs do, around a mean.
func vary(mean, i int) int {
	return max(1, int(float64(mean)*(0.25+1.5*float64(simengine.Mix(uint64(i), 99)%1000)/1000)))
}

// promptTokens makes prompt i.
func promptTokens(i, n int) []int32 {
	p := make([]int32, n)
	for j := range p {
		p[j] = int32(300 + simengine.Mix(uint64(i), uint64(j))%30000)
	}
	return p
}

func (tr trial) sequence(i int) *simengine.Sequence {
	which := i
	if tr.samePrompt {
		which = 0
	}
	n := vary(tr.output, i)
	return &simengine.Sequence{
		Key: simengine.Mix(5, uint64(i)), Prompt: promptTokens(which, vary(tr.prompt, which)),
		Spoken: []int32{400, 401, 402, 403}, Answer: n, Target: n, Out: simengine.NewStream(),
	}
}

// run drives a scheduler with a fixed number of requests in flight.
func (tr trial) run(t testing.TB) (figures, []*simengine.Sequence) {
	t.Helper()
	core := simengine.NewScheduler(mustResolve(t, tr.cfg))
	now := epoch
	var all []*simengine.Sequence
	send := func() {
		if len(all) < tr.requests {
			s := tr.sequence(len(all))
			s.Arrival = now
			all = append(all, s)
			core.Submit(s)
		}
	}
	for range tr.concurrency {
		send()
	}
	for finished := 0; finished < tr.requests; {
		b, seconds := core.Plan()
		if len(b.Items) == 0 {
			t.Fatalf("plan() is empty with %d of %d requests finished", finished, tr.requests)
		}
		start := now
		now = now.Add(time.Duration(seconds * 1e9))
		core.Commit(b, start, now)
		done := int(core.Stats.Finished[simengine.FinishLength])
		for ; finished < done; finished++ {
			send()
		}
	}
	return tr.figures(core, all, now), all
}

func (tr trial) figures(core *simengine.Scheduler, all []*simengine.Sequence, now time.Time) figures {
	var f figures
	tokens, paced := 0, 0
	for _, s := range all {
		tokens += s.Output
		f.ttft += s.First.Sub(s.Arrival).Seconds() / float64(len(all))
		if s.Output > 1 {
			paced++
			f.tpot += s.Last.Sub(s.First).Seconds() / float64(s.Output-1)
		}
	}
	f.tpot /= float64(paced)
	f.outputTPS = float64(tokens) / now.Sub(epoch).Seconds()
	f.preemptions = core.Stats.Preemptions
	f.acceptLen = 1 + ratio(float64(core.Stats.Accepted), float64(core.Stats.Drafts))
	return f
}

func llama70(tp, pp int) simengine.Config {
	return simengine.Config{
		Model: "meta-llama/Llama-3.1-70B-Instruct", TensorParallelSize: tp,
		PipelineParallelSize: pp, GPUMemoryUtilization: 0.96,
	}
}

func withDraft(c simengine.Config, draft string, k int, acceptance ...float64) simengine.Config {
	c.Speculation = simengine.Speculation{Model: draft, Tokens: k, Acceptance: acceptance}
	return c
}

func shareGPT(c simengine.Config, concurrency int) trial {
	return trial{cfg: c, concurrency: concurrency, requests: concurrency*3/2 + 16, prompt: 216, output: 187}
}

func measure(t *testing.T, tr trial) figures {
	t.Helper()
	f, _ := tr.run(t)
	t.Logf("tp%d pp%d k%d c%d: %.0f tok/s, ttft %.0f ms, tpot %.1f ms, %.2f tokens a step, %d preemptions",
		tr.cfg.TensorParallelSize, tr.cfg.PipelineParallelSize, tr.cfg.Speculation.Tokens, tr.concurrency,
		f.outputTPS, f.ttft*1e3, f.tpot*1e3, f.acceptLen, f.preemptions)
	return f
}

const (
	draft1B = "meta-llama/Llama-3.2-1B-Instruct"
	draft8B = "meta-llama/Llama-3.1-8B-Instruct"
)

func TestParallelism(t *testing.T) {
	t.Parallel()
	tp8 := measure(t, shareGPT(llama70(8, 1), 128))
	tp2 := measure(t, shareGPT(llama70(2, 1), 32))
	pp4 := measure(t, shareGPT(llama70(2, 4), 128))
	for _, c := range []struct {
		name string
		ok   bool
	}{
		{"tp8 throughput > tp2 at a quarter of the load", tp8.outputTPS > tp2.outputTPS},
		{"tp2+pp4 throughput < tp8", pp4.outputTPS < tp8.outputTPS/1.5},
		{"tp2+pp4 tpot is several times tp8's", pp4.tpot > 2.5*tp8.tpot},
		{"tp2+pp4 tpot > tp2", pp4.tpot > tp2.tpot},
		{"tp8 throughput is near the published 2994 tok/s", within(tp8.outputTPS, 2994, 2)},
		{"tp2 throughput is near the published 672 tok/s", within(tp2.outputTPS, 672, 2)},
	} {
		if !c.ok {
			t.Errorf("%s: no: tp8 %+v, tp2 %+v, tp2+pp4 %+v", c.name, tp8, tp2, pp4)
		}
	}
}

func within(got, want, factor float64) bool {
	return math.Abs(math.Log(got/want)) < math.Log(factor)
}

func TestConcurrencySaturates(t *testing.T) {
	t.Parallel()
	var all []figures
	for _, c := range []int{1, 8, 64, 256, 400} {
		tr := shareGPT(llama70(8, 1), c)
		tr.output = 64
		all = append(all, measure(t, tr))
	}
	for i := 1; i < 4; i++ {
		if all[i].outputTPS <= all[i-1].outputTPS || all[i].tpot <= all[i-1].tpot {
			t.Errorf("figures at concurrency step %d = %+v, want more throughput and slower tokens than %+v", i,
				all[i], all[i-1])
		}
	}
	if first, last := all[1].outputTPS/all[0].outputTPS, all[4].outputTPS/all[3].outputTPS; last > 1.15 || first < 3 {
		t.Errorf("gain 1->8 = %.2f and 256->400 = %.2f, want above 3 and below 1.15 (max-num-seqs is 256)", first, last)
	}
}

func TestSpeculationHelpsAlone(t *testing.T) {
	t.Parallel()
	gain := func(c simengine.Config, concurrency int) float64 {
		base := measure(t, shareGPT(llama70(8, 1), concurrency))
		return base.tpot / measure(t, shareGPT(c, concurrency)).tpot
	}
	c := withDraft(llama70(8, 1), draft1B, 5, 0.8)
	alone, crowded := gain(c, 1), gain(c, 128)
	if alone < 1.3 || crowded > 0.8*alone {
		t.Errorf("gain by speculation = %.2f alone, %.2f at 128, want above 1.3 alone and much less at 128",
			alone, crowded)
	}
	if poor := gain(withDraft(llama70(8, 1), draft1B, 5, 0.05), 1); poor > 1 {
		t.Errorf("gain with acceptance 0.05 = %.2f, want a loss", poor)
	}
	if big := gain(withDraft(llama70(8, 1), draft8B, 5, 0.8), 1); big >= alone {
		t.Errorf("gain with an 8B draft of equal acceptance = %.2f, want less than %.2f with 1B", big, alone)
	}
}

func TestAcceptanceLength(t *testing.T) {
	t.Parallel()
	f := measure(t, shareGPT(withDraft(llama70(8, 1), draft1B, 3, 0.8, 0.5), 16))
	// 1 + 0.8 + 0.8*0.5 + 0.8*0.5*0.5, a little less for drafts cut at the answers' ends.
	if math.Abs(f.acceptLen-2.4) > 0.05 {
		t.Errorf("mean acceptance length = %.3f, want 2.40 for rates 0.8, 0.5, 0.5", f.acceptLen)
	}
}

func TestPrefixCacheLowersTTFT(t *testing.T) {
	t.Parallel()
	tr := trial{cfg: llama70(8, 1), concurrency: 4, requests: 40, prompt: 3000, output: 20, samePrompt: true}
	warm := measure(t, tr)
	tr.cfg.DisablePrefixCaching = true
	cold := measure(t, tr)
	if warm.ttft > cold.ttft/2 {
		t.Errorf("ttft = %.3f s with a prefix cache, want below half of %.3f s without", warm.ttft, cold.ttft)
	}
}

func TestPreemption(t *testing.T) {
	t.Parallel()
	cfg := llama70(8, 1)
	cfg.KVBlocks, cfg.MaxModelLen = 400, 2048
	tr := shareGPT(cfg, 64)
	f, all := tr.run(t)
	if f.preemptions == 0 {
		t.Errorf("preemptions = 0 with %d blocks for %d sequences, want some", cfg.KVBlocks, tr.concurrency)
	}
	for i, s := range all {
		if want := vary(tr.output, i); s.Output != want {
			t.Errorf("output of request %d = %d tokens, want %d in spite of preemption", i, s.Output, want)
		}
	}
}

func TestPromptsInPieces(t *testing.T) {
	t.Parallel()
	for _, whole := range []bool{false, true} {
		cfg := simengine.Config{MaxNumBatchedTokens: 512, MaxModelLen: 8192, DisableChunkedPrefill: whole}
		tr := trial{cfg: cfg, concurrency: 8, requests: 32, prompt: 3000, output: 50}
		f, all := tr.run(t)
		var events []simengine.Event
		for _, s := range all {
			events = s.Out.Take(events[:0])
			n := 0
			for _, e := range events {
				if e.From != n {
					t.Fatalf("event begins at token %d, want %d", e.From, n)
				}
				n += e.N
			}
			if n != s.Answer || events[len(events)-1].Finish != simengine.FinishLength {
				t.Fatalf("events give %d tokens and end with %q, want %d and length", n,
					events[len(events)-1].Finish, s.Answer)
			}
		}
		if f.ttft <= 0 || f.tpot <= 0 {
			t.Errorf("figures with whole prompts %v = %+v, want times above 0", whole, f)
		}
	}
}

func TestSameSeedSameTimes(t *testing.T) {
	t.Parallel()
	tr := shareGPT(withDraft(llama70(8, 1), draft1B, 4), 16)
	tr.cfg.Noise, tr.cfg.Seed = 0.05, 42
	times := func(tr trial) []time.Duration {
		_, all := tr.run(t)
		var list []time.Duration
		for _, s := range all {
			list = append(list, s.First.Sub(epoch), s.Last.Sub(epoch))
		}
		return list
	}
	a, b := times(tr), times(tr)
	if !slices.Equal(a, b) {
		t.Errorf("times of two runs with seed 42 differ")
	}
	tr.cfg.Seed = 43
	if slices.Equal(a, times(tr)) {
		t.Errorf("times with seeds 42 and 43 are equal")
	}
}
