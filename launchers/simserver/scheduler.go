package simserver

import (
	"math/rand/v2"
	"slices"
	"time"
)

// scheduler is the engine without a clock: plan decides what the next step
// computes and how long that takes, commit applies its outcome. It is not safe
// for concurrent use.
type scheduler struct {
	cfg     settings
	costs   *costs
	pool    *blockPool
	noise   *rand.Rand
	draws   *rand.Rand
	waiting []*sequence
	running []*sequence
	batch   batch
	stats   counters
	hung    bool
	crashed FaultKind // set when a crash fault was reached
}

// batch is one step.
type batch struct {
	items []item
	work  work
}

// item is one sequence's share of a step.
type item struct {
	seq    *sequence
	tokens int // computed by the target, drafts included
	drafts int
}

func newScheduler(s settings) *scheduler {
	seed := uint64(s.Seed)
	return &scheduler{
		cfg:   s,
		costs: newCosts(s),
		pool:  newBlockPool(s.blocks, s.BlockSize, !s.DisablePrefixCaching),
		noise: rand.New(rand.NewPCG(seed, 2)),
		draws: rand.New(rand.NewPCG(seed, 3)),
		hung:  s.hasFault(FaultNoTokens),
		stats: newCounters(s.Speculation.Tokens),
	}
}

// submit queues a request.
func (c *scheduler) submit(s *sequence) { c.waiting = append(c.waiting, s) }

// abort ends a request whose client has left.
func (c *scheduler) abort(s *sequence) {
	if s.done {
		return
	}
	c.end(s)
	c.stats.finished[finishAbort]++
	gone := func(q *sequence) bool { return q == s }
	c.waiting = slices.DeleteFunc(c.waiting, gone)
	c.running = slices.DeleteFunc(c.running, gone)
}

// end frees what a request holds.
func (c *scheduler) end(s *sequence) {
	s.done = true
	c.dropBlocks(s)
}

func (c *scheduler) dropBlocks(s *sequence) {
	c.pool.release(s.blocks)
	s.blocks, s.computed, s.shared = nil, 0, 0
}

// plan returns the next step and its duration in seconds of the modelled
// engine; an empty batch when there is nothing to do.
func (c *scheduler) plan() (*batch, float64) {
	b := &c.batch
	b.items = b.items[:0]
	b.work = work{}
	if c.hung {
		return b, 0
	}
	budget := c.cfg.MaxNumBatchedTokens
	if c.cfg.DisableChunkedPrefill {
		// Whole prompts first, and alone in their step.
		c.admit(b, &budget)
		if len(b.items) == 0 {
			c.continueRunning(b, &budget)
		}
	} else if preempted := c.continueRunning(b, &budget); !preempted || len(b.items) == 0 {
		c.admit(b, &budget)
	}
	return b, c.costs.step(b.work) * noiseFactor(c.noise, c.cfg.Noise)
}

// continueRunning gives each running sequence its next tokens, oldest first.
// Where blocks run out the youngest are preempted.
func (c *scheduler) continueRunning(b *batch, budget *int) (preempted bool) {
	for i := 0; i < len(c.running) && *budget > 0; i++ {
		s := c.running[i]
		if s.stalled {
			continue
		}
		tokens, drafts := c.need(s, *budget)
		for !c.reserve(s, s.computed+tokens) {
			preempted = true
			if c.preemptYoungest() == s {
				return true
			}
		}
		c.add(b, s, tokens, drafts, budget)
	}
	return preempted
}

// admit moves waiting requests into the batch as far as budget, sequences and
// blocks allow, in order of arrival.
func (c *scheduler) admit(b *batch, budget *int) {
	for len(c.waiting) > 0 && len(c.running) < c.cfg.MaxNumSeqs && *budget > 0 {
		s := c.waiting[0]
		c.attachCached(s)
		tokens, drafts := c.need(s, *budget)
		whole := s.computed+tokens >= s.total()
		if (c.cfg.DisableChunkedPrefill && !whole) || !c.reserve(s, s.computed+tokens) {
			c.dropBlocks(s)
			return
		}
		c.noteAdmission(s)
		c.waiting = c.waiting[1:]
		c.running = append(c.running, s)
		c.add(b, s, tokens, drafts, budget)
	}
}

// attachCached lets a request start behind the blocks that are known already.
// The last token is always computed, for without it there is no next one.
func (c *scheduler) attachCached(s *sequence) {
	known := c.pool.match(s.blockHashes((s.total()-1)/c.pool.size, c.pool.size))
	for _, b := range known {
		c.pool.share(b)
	}
	s.blocks = append(s.blocks[:0], known...)
	s.shared = len(known)
	s.computed = s.shared * c.pool.size
}

// noteAdmission counts the prefix cache, once a request.
func (c *scheduler) noteAdmission(s *sequence) {
	if s.admitted {
		return
	}
	s.admitted = true
	s.cached = s.computed
	s.out.setCached(s.cached)
	if !c.cfg.DisablePrefixCaching {
		c.stats.prefixQueries += int64(len(s.prompt))
		c.stats.prefixHits += int64(s.cached)
	}
}

// need says how many tokens a sequence has to compute next, within the budget,
// and how many of them are drafts.
func (c *scheduler) need(s *sequence, budget int) (tokens, drafts int) {
	missing := s.total() - s.computed
	if missing > budget {
		return budget, 0
	}
	if missing == 1 && s.output > 0 {
		drafts = min(c.cfg.Speculation.Tokens, s.target-s.output-1, budget-1)
	}
	return missing + drafts, drafts
}

// reserve makes room for the KV of a sequence's first n tokens.
func (c *scheduler) reserve(s *sequence, n int) bool {
	want := (n+c.pool.size-1)/c.pool.size - len(s.blocks)
	if want > c.pool.free() {
		return false
	}
	for range want {
		s.blocks = append(s.blocks, c.pool.take())
	}
	return true
}

// preemptYoungest sends the last admitted sequence back to the head of the
// queue; its KV is computed again later.
func (c *scheduler) preemptYoungest() *sequence {
	last := len(c.running) - 1
	s := c.running[last]
	c.running = c.running[:last]
	c.dropBlocks(s)
	c.waiting = slices.Insert(c.waiting, 0, s)
	c.stats.preemptions++
	return s
}

func (c *scheduler) add(b *batch, s *sequence, tokens, drafts int, budget *int) {
	*budget -= tokens
	b.items = append(b.items, item{seq: s, tokens: tokens, drafts: drafts})
	context := float64(s.computed + tokens)
	b.work.tokens += tokens
	b.work.seqs++
	b.work.context += context
	b.work.attention += context * float64(tokens)
	if drafts > 0 {
		b.work.drafting++
		b.work.drafts = max(b.work.drafts, drafts)
	}
}

// commit applies a step that began at start and ended at now.
func (c *scheduler) commit(b *batch, start, now time.Time) {
	for _, it := range b.items {
		if it.seq.done {
			continue
		}
		if it.seq.started.IsZero() {
			it.seq.started = start
		}
		c.commitItem(it, now)
	}
	c.running = slices.DeleteFunc(c.running, func(s *sequence) bool { return s.done })
}

func (c *scheduler) commitItem(it item, now time.Time) {
	s := it.seq
	known := s.total()
	prefill := it.tokens - it.drafts
	if s.output == 0 {
		c.stats.promptComputed += int64(prefill)
	}
	if s.computed+prefill < known {
		s.computed += prefill
		c.publish(s)
		return
	}
	accepted := 0
	if it.drafts > 0 {
		accepted = c.verify(it.drafts)
	}
	s.computed = known + accepted
	if it.drafts > 0 {
		c.stats.emitted += int64(min(1+accepted, s.target-s.output))
	}
	c.produce(s, 1+accepted, now)
}

// verify draws how many of k drafted tokens are kept, and counts them as the
// version does.
func (c *scheduler) verify(k int) int {
	rates := c.cfg.Speculation.Acceptance
	if !c.cfg.Speculation.BeforeV1 {
		kept := accept(c.draws, rates, k)
		c.stats.drafted(k, kept, kept)
		return kept
	}
	kept, agreed := acceptAll(c.draws, rates, k)
	c.stats.drafted(k, kept, agreed)
	return kept
}

// produce gives n new tokens to a request, and ends it where it is due.
func (c *scheduler) produce(s *sequence, n int, now time.Time) {
	n = min(n, s.target-s.output)
	e := event{from: s.output, n: n, at: now}
	s.output += n
	c.stats.produced(s, n, now)
	if s.fault != "" && s.output >= min(faultAfterTokens, s.target) {
		c.strike(s, &e)
	}
	if e.finish == finishNone && s.output == s.target {
		e.finish = finishLength
		if s.stops {
			e.finish = finishStop
		}
	}
	c.publish(s)
	if e.finish != finishNone {
		c.end(s)
		c.stats.finish(s, e.finish, now)
	}
	s.out.push(e)
}

// strike lets a request's fault happen.
func (c *scheduler) strike(s *sequence, e *event) {
	switch s.fault {
	case FaultError:
		e.finish = finishError
	case FaultTruncate:
		e.finish = finishTruncate
	case FaultStall:
		s.stalled = true
		s.target++ // never reached
	case FaultHang:
		c.hung = true
		s.target++
	case FaultCrash, FaultExit0:
		c.crashed = s.fault
	default: // the others strike elsewhere
	}
	s.fault = ""
}

// publish offers the full blocks of a sequence to others. A block is full when
// all its tokens are computed and known.
func (c *scheduler) publish(s *sequence) {
	full := min(s.computed, s.total()) / c.pool.size
	hashes := s.blockHashes(full, c.pool.size)
	for ; s.shared < full; s.shared++ {
		c.pool.publish(s.blocks[s.shared], hashes[s.shared])
	}
}
