package step

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/benchrig/bench/harness/ceiling"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/scrape"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// What was done for the state of the prefix cache.
const (
	cacheNewServer = "new-server"       // nothing measured went to it before
	cacheDistinct  = "distinct-prompts" // no measured prompt went to it before in this run
	cacheReset     = "reset"
	cacheSalt      = "salt"
	cachePromptOff = "cache-prompt-off"
	cacheSentOnce  = "sent-before" // the measured prompts, for a warm cache
)

const (
	coldShare      = 0.01 // of the prompt tokens may come from a cold cache, beside what prompts share
	warmShare      = 0.5  // of the prompt tokens must come from a warm one: caches work in blocks
	templateTokens = 64   // that a chat template may put before every prompt
	specialTokens  = 2    // that a server may put before a plain prompt
)

// CacheRequest is the state of the prefix cache that a pass was to find, and what
// was done for it.
type CacheRequest struct {
	Asked scenarios.PrefixCache // "": any
	How   []string
}

// sentTo remembers which measured prompts the servers of a life have got.
type sentTo struct {
	seed  maphash.Seed
	seen  map[uint64]bool
	steps int // begun on these servers
}

func newSentTo() *sentTo { return &sentTo{seed: maphash.MakeSeed(), seen: map[uint64]bool{}} }

// add notes the prompts of a step and reports whether the servers are new, and
// whether all of the prompts are.
func (s *sentTo) add(prompts []load.Prompt) (first, distinct bool) {
	first, distinct = s.steps == 0, true
	s.steps++
	var fresh []uint64
	for _, p := range prompts {
		key := maphash.String(s.seed, p.Text)
		if p.TokenIDs != nil {
			key = maphash.String(s.seed, fmt.Sprint(p.TokenIDs))
		}
		distinct = distinct && !s.seen[key]
		fresh = append(fresh, key)
	}

	for _, key := range fresh {
		s.seen[key] = true
	}

	return first, distinct
}

func failureIfEnded(ctx context.Context) error {
	if ctx.Err() != nil {
		return results.CauseOf(ctx)
	}
	return nil
}

// once are prompts whose answers may be short: only their beginnings matter to
// a cache. What a conversation continues with is its answers.
func once(prompts []load.Prompt) []load.Prompt {
	out := slices.Clone(prompts)
	for i := range out {
		if len(out[i].Turns) == 0 {
			out[i].OutputTokens = 1
		}
	}
	return out
}

// cacheState says in which state a pass found the prefix cache.
func (j Job) cacheState(asked results.Asked, p Pass) *results.CacheState {
	state := &results.CacheState{Asked: string(j.Cache.Asked), How: j.Cache.How}
	if state.Asked == "" {
		state.Asked = string(scenarios.CacheAny)
	}
	if state.How == nil {
		state.How = []string{}
	}

	state.CeilingShare, state.CeilingN = ceiling.Of(j.Prompts, p.records, j.Cache.Asked == scenarios.CacheWarm)
	hits, queries, how := cacheFigures(p)
	if how == "" {
		return state
	}

	state.Hits, state.Queries = &hits, &queries
	if queries > 0 {
		state.HitShare = new(hits / queries)
	}

	var ok, known bool
	switch j.Cache.Asked {
	case scenarios.CacheCold:
		ok, known = j.foundCold(asked, p, hits, queries)
	case scenarios.CacheWarm:
		ok, known = hits >= warmShare*queries, queries > 0
	case scenarios.CacheAny:
	}

	if known {
		state.Verified, state.VerifiedHow = &ok, how
	}

	return state
}

// foundCold judges the hits of a pass that was to find a cold cache. Prompts
// that begin alike find each other's beginnings in any cache; of conversations,
// and of prompts that were sent round and round, that cannot be told apart.
func (j Job) foundCold(asked results.Asked, p Pass, hits, queries float64) (ok, known bool) {
	shared, known := ceiling.Shared(j.Prompts)
	before := float64(specialTokens)
	if asked.Templated() {
		before = templateTokens
	}
	ok = hits <= (coldShare+shared)*queries+before*float64(len(p.records))
	return ok, ok || known && len(p.records) <= len(j.Prompts)
}

// cacheFigures are the tokens that were found in the cache and those that were
// looked up, by the servers' counters, else by what each answer said. how is ""
// where nothing says.
func cacheFigures(p Pass) (hits, queries float64, how string) {
	hits, knownHits := Sum(p.outer, scrape.PrefixHits)
	queries, known := Sum(p.outer, scrape.PrefixQueries)
	if !known {
		queries, known = Sum(p.outer, scrape.InputTokensTotal)
	}
	if knownHits && known && queries > 0 {
		return hits, queries, "counters"
	}

	hits, queries = 0, 0
	for _, rec := range p.records {
		if rec.Failure != nil {
			continue
		}
		if rec.CachedTokens == nil || rec.InputTokens == nil {
			return 0, 0, ""
		}
		hits += float64(*rec.CachedTokens)
		queries += float64(*rec.InputTokens)
		how = "usage"
	}

	return hits, queries, how
}

// askCache brings the servers' prefix caches into the state that a point asks
// for, by what their kind has, and says what it did.
func (p *Preparer) askCache(ctx context.Context, point scenarios.Load, r Request, job *Job) error {
	if p.sent == nil {
		p.sent = newSentTo()
	}

	first, distinct := p.sent.add(job.Prompts)
	kind, _ := engines.Lookup(r.Servers[0].Info().Launcher)
	body := job.Options.Body
	wish := CacheRequest{Asked: point.PrefixCache, How: []string{}}
	// Turns find what was said before in the cache of every other engine, even one that begins cold.
	if _, own := point.Body["cache_prompt"]; !own && (wish.Asked != scenarios.CacheCold || job.converses()) {
		delete(body, "cache_prompt") // the engine's own way
	}

	switch wish.Asked {
	case scenarios.CacheWarm:
		job.Warmups = slices.Concat(job.Warmups, once(job.Prompts))
		wish.How = append(wish.How, cacheSentOnce)
	case scenarios.CacheCold:
		if first && !kind.External {
			wish.How = append(wish.How, cacheNewServer)
		}
		if distinct {
			wish.How = append(wish.How, cacheDistinct)
		}
		if off, ok := body["cache_prompt"].(bool); ok && !off {
			wish.How = append(wish.How, cachePromptOff)
		}
		if len(wish.How) == 0 {
			wish.How = p.forget(ctx, kind, r, body)
		}
	case scenarios.CacheAny:
	}

	job.Cache = wish
	return failureIfEnded(ctx)
}

// forget keeps what the servers have cached from being found: by a salt that
// only this step's requests carry, else by a reset. Nil: neither worked.
func (p *Preparer) forget(ctx context.Context, kind engines.Kind, r Request, body map[string]any) []string {
	if kind.API.CacheSalt {
		body["cache_salt"] = fmt.Sprintf("%s/%s/%d", p.RunID, r.Step.ID, r.Step.Attempt)
		return []string{cacheSalt}
	}
	if kind.External {
		return []string{} // not ours to reset
	}

	for _, s := range r.Servers {
		reset := s.Abilities().ResetCache
		if reset == nil {
			return []string{}
		}
		if _, err := reset(ctx); err != nil {
			return []string{}
		}
	}

	return []string{cacheReset}
}
