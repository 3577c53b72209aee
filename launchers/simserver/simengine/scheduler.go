package simengine

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Scheduler is the engine without a clock: plan decides what the next step
// computes and how long that takes, commit applies its outcome. It is not safe
// for concurrent use.
type Scheduler struct {
	cfg     Settings
	costs   *costs
	pool    *blockPool
	noise   *rand.Rand
	draws   *rand.Rand
	waiting []*Sequence
	running []*Sequence
	batch   batch
	Stats   Counters
	hung    bool
	crashed FaultKind // set when a crash fault was reached
}

// batch is one step.
type batch struct {
	Items []item
	work  Work
}

// item is one sequence's share of a step.
type item struct {
	Seq    *Sequence
	tokens int // computed by the target, drafts included
	drafts int
}

// NewScheduler makes a scheduler without requests. Its random draws follow from the settings' seed.
func NewScheduler(s Settings) *Scheduler {
	seed := uint64(s.Seed)
	return &Scheduler{
		cfg:   s,
		costs: NewCosts(s),
		pool:  newBlockPool(s.Blocks, s.BlockSize, !s.DisablePrefixCaching),
		noise: rand.New(rand.NewPCG(seed, 2)),
		draws: rand.New(rand.NewPCG(seed, 3)),
		hung:  s.HasFault(FaultNoTokens),
		Stats: NewCounters(s.Speculation.Tokens),
	}
}

// Submit queues a request behind those of its priority and of lower values.
func (c *Scheduler) Submit(s *Sequence) {
	at := len(c.waiting)
	for at > 0 && c.waiting[at-1].Priority > s.Priority {
		at--
	}
	c.waiting = slices.Insert(c.waiting, at, s)
}

// abort ends a request whose client has left.
func (c *Scheduler) abort(s *Sequence) {
	if s.done {
		return
	}
	c.end(s)
	c.Stats.Finished[FinishAbort]++
	gone := func(q *Sequence) bool { return q == s }
	c.waiting = slices.DeleteFunc(c.waiting, gone)
	c.running = slices.DeleteFunc(c.running, gone)
}

// end frees what a request holds.
func (c *Scheduler) end(s *Sequence) {
	s.done = true
	c.dropBlocks(s)
}

func (c *Scheduler) dropBlocks(s *Sequence) {
	c.pool.release(s.blocks)
	s.blocks, s.computed, s.shared = nil, 0, 0
}

// Plan returns the next step and its duration in seconds of the modelled
// engine; an empty batch when there is nothing to do.
func (c *Scheduler) Plan() (*batch, float64) {
	b := &c.batch
	b.Items = b.Items[:0]
	b.work = Work{}
	if c.hung {
		return b, 0
	}

	budget := c.cfg.MaxNumBatchedTokens
	if c.cfg.DisableChunkedPrefill {
		// Whole prompts first, and alone in their step.
		c.admit(b, &budget)
		if len(b.Items) == 0 {
			c.continueRunning(b, &budget)
		}
	} else if preempted := c.continueRunning(b, &budget); !preempted || len(b.Items) == 0 {
		c.admit(b, &budget)
	}

	return b, c.costs.Step(b.work) * NoiseFactor(c.noise, c.cfg.Noise)
}

// continueRunning gives each running sequence its next tokens, oldest first.
// Where blocks run out the youngest are preempted.
func (c *Scheduler) continueRunning(b *batch, budget *int) (preempted bool) {
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
func (c *Scheduler) admit(b *batch, budget *int) {
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
func (c *Scheduler) attachCached(s *Sequence) {
	known := c.pool.match(s.blockHashes((s.total()-1)/c.pool.size, c.pool.size))
	for _, b := range known {
		c.pool.share(b)
	}
	s.blocks = append(s.blocks[:0], known...)
	s.shared = len(known)
	s.computed = s.shared * c.pool.size
}

// noteAdmission counts the prefix cache, once a request.
func (c *Scheduler) noteAdmission(s *Sequence) {
	if s.admitted {
		return
	}
	s.admitted = true
	s.cached = s.computed
	s.Out.setCached(s.cached)
	if !c.cfg.DisablePrefixCaching {
		c.Stats.PrefixQueries += int64(len(s.Prompt))
		c.Stats.PrefixHits += int64(s.cached)
	}
}

// need says how many tokens a sequence has to compute next, within the budget,
// and how many of them are drafts.
func (c *Scheduler) need(s *Sequence, budget int) (tokens, drafts int) {
	missing := s.total() - s.computed
	if missing > budget {
		return budget, 0
	}
	if missing == 1 && s.Output > 0 {
		drafts = min(c.cfg.Speculation.Tokens, s.Target-s.Output-1, budget-1)
	}
	return missing + drafts, drafts
}

// reserve makes room for the KV of a sequence's first n tokens.
func (c *Scheduler) reserve(s *Sequence, n int) bool {
	want := (n+c.pool.size-1)/c.pool.size - len(s.blocks)
	if want > c.pool.free() {
		return false
	}
	for range want {
		s.blocks = append(s.blocks, c.pool.take())
	}
	return true
}

// preemptYoungest sends the last admitted sequence of those with the highest
// priority value back to the head of its priority's queue; its KV is computed again
// later.
func (c *Scheduler) preemptYoungest() *Sequence {
	last := len(c.running) - 1
	for i := last; i >= 0; i-- {
		if c.running[i].Priority > c.running[last].Priority {
			last = i
		}
	}
	s := c.running[last]
	c.running = slices.Delete(c.running, last, last+1)
	c.dropBlocks(s)
	at := slices.IndexFunc(c.waiting, func(q *Sequence) bool { return q.Priority >= s.Priority })
	if at < 0 {
		at = len(c.waiting)
	}
	c.waiting = slices.Insert(c.waiting, at, s)
	c.Stats.Preemptions++
	return s
}

func (c *Scheduler) add(b *batch, s *Sequence, tokens, drafts int, budget *int) {
	*budget -= tokens
	b.Items = append(b.Items, item{Seq: s, tokens: tokens, drafts: drafts})
	context := float64(s.computed + tokens)
	b.work.Tokens += tokens
	b.work.Seqs++
	b.work.Context += context
	b.work.Attention += context * float64(tokens)
	if drafts > 0 {
		b.work.drafting++
		b.work.drafts = max(b.work.drafts, drafts)
	}
}

// Commit applies a step that began at start and ended at now.
func (c *Scheduler) Commit(b *batch, start, now time.Time) {
	for _, it := range b.Items {
		if it.Seq.done {
			continue
		}
		if it.Seq.started.IsZero() {
			it.Seq.started = start
		}
		c.commitItem(it, now)
	}
	c.running = slices.DeleteFunc(c.running, func(s *Sequence) bool { return s.done })
}

func (c *Scheduler) commitItem(it item, now time.Time) {
	s := it.Seq
	known := s.total()
	prefill := it.tokens - it.drafts
	if s.Output == 0 {
		c.Stats.PromptComputed += int64(prefill)
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
		c.Stats.Emitted += int64(min(1+accepted, s.Target-s.Output))
	}

	c.produce(s, 1+accepted, now)
}

// verify draws how many of k drafted tokens are kept, and counts them as the
// version does.
func (c *Scheduler) verify(k int) int {
	rates := c.cfg.Speculation.Acceptance
	if !c.cfg.Speculation.BeforeV1 {
		kept := accept(c.draws, rates, k)
		c.Stats.drafted(k, kept, kept)
		return kept
	}
	kept, agreed := acceptAll(c.draws, rates, k)
	c.Stats.drafted(k, kept, agreed)
	return kept
}

// produce gives n new tokens to a request, and ends it where it is due.
func (c *Scheduler) produce(s *Sequence, n int, now time.Time) {
	n = min(n, s.Target-s.Output)
	e := Event{From: s.Output, N: n, At: now}
	s.Output += n
	c.Stats.produced(s, n, now)
	if s.Fault != "" && s.Output >= min(faultAfterTokens, s.Target) {
		c.strike(s, &e)
	}
	if e.Finish == FinishNone && s.Output == s.Target {
		e.Finish = FinishLength
		if s.Stops {
			e.Finish = finishStop
		}
	}

	c.publish(s)
	if e.Finish != FinishNone {
		c.end(s)
		c.Stats.finish(s, e.Finish, now)
	}

	s.Out.push(e)
}

// strike lets a request's fault happen.
func (c *Scheduler) strike(s *Sequence, e *Event) {
	switch s.Fault {
	case FaultError:
		e.Finish = FinishError
	case FaultTruncate:
		e.Finish = FinishTruncate
	case FaultStall:
		s.stalled = true
		s.Target++ // never reached
	case FaultHang:
		c.hung = true
		s.Target++
	case FaultCrash, FaultExit0:
		c.crashed = s.Fault
	default: // the others strike elsewhere
	}

	s.Fault = ""
}

// publish offers the full blocks of a sequence to others. A block is full when
// all its tokens are computed and known.
func (c *Scheduler) publish(s *Sequence) {
	full := min(s.computed, s.total()) / c.pool.size
	hashes := s.blockHashes(full, c.pool.size)
	for ; s.shared < full; s.shared++ {
		c.pool.publish(s.blocks[s.shared], hashes[s.shared])
	}
}
