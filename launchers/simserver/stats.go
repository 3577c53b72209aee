package simserver

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// logStats writes the statistics lines of vLLM V1 until ctx ends. An interval
// without any work is not logged.
func (s *server) logStats(ctx context.Context) {
	if s.cfg.DisableLogStats || s.llamaCpp() {
		return
	}

	tick := time.NewTicker(s.cfg.StatsInterval)
	defer tick.Stop()

	before := s.engine.Gauges()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := s.engine.Gauges()
		if busy(before, now) {
			s.log.info("%s", statsLine(before, now, s.cfg.StatsInterval))
			if now.Drafts > before.Drafts {
				s.log.info("%s", s.specLine(before, now))
			}
		}
		before = now
	}
}

func busy(before, now simengine.Gauges) bool {
	return now.Running+now.Waiting > 0 || now.OutputTokens > before.OutputTokens
}

func statsLine(before, now simengine.Gauges, interval time.Duration) string {
	s := interval.Seconds()
	return fmt.Sprintf("Engine 000: Avg prompt throughput: %.1f tokens/s, Avg generation throughput: %.1f tokens/s, "+
		"Running: %d reqs, Waiting: %d reqs, GPU KV cache usage: %.1f%%, Prefix cache hit rate: %.1f%%",
		float64(now.PromptTokens-before.PromptTokens)/s, float64(now.OutputTokens-before.OutputTokens)/s,
		now.Running, now.Waiting, 100*now.KVUsage, 100*ratio(float64(now.PrefixHits), float64(now.PrefixQueries)))
}

func (s *server) specLine(before, now simengine.Gauges) string {
	if s.cfg.Speculation.BeforeV1 {
		return specTotals(now, s.cfg.Speculation.Tokens)
	}
	return specLine(before, now, s.cfg.StatsInterval)
}

// specTotals is the line of engines before V1: totals since the start. The
// efficiency is relative to an emission of all drafts and one more.
func specTotals(now simengine.Gauges, k int) string {
	most := float64(now.DraftTokens) / float64(k) * float64(k+1)
	return fmt.Sprintf("Speculative metrics: Draft acceptance rate: %.3f, System efficiency: %.3f, Number of "+
		"speculative tokens: %d, "+
		"Number of accepted tokens: %d, Number of draft tokens: %d, Number of emitted tokens: %d.",
		ratio(float64(now.Accepted), float64(now.DraftTokens)), ratio(float64(now.Emitted),
			most), k, now.Accepted, now.DraftTokens, now.Emitted)
}

func specLine(before, now simengine.Gauges, interval time.Duration) string {
	s := interval.Seconds()
	drafts := float64(now.Drafts - before.Drafts)
	accepted, drafted := now.Accepted-before.Accepted, now.DraftTokens-before.DraftTokens
	var rates []string
	for i := range now.AcceptedAt {
		rates = append(rates, fmt.Sprintf("%.3f", float64(now.AcceptedAt[i]-before.AcceptedAt[i])/drafts))
	}
	return fmt.Sprintf("SpecDecoding metrics: Mean acceptance length: %.2f, Accepted throughput: %.2f tokens/s, "+
		"Drafted throughput: %.2f tokens/s, Accepted: %d tokens, Drafted: %d tokens, "+
		"Per-position acceptance rate: %s, Avg Draft acceptance rate: %.1f%%",
		1+float64(accepted)/drafts, float64(accepted)/s, float64(drafted)/s, accepted, drafted,
		strings.Join(rates, ", "), 100*float64(accepted)/float64(drafted))
}
