package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/benchrig/bench/load/dialect"
)

// prompt returns the prompt of conversation k, which is a single request where
// the prompt has no further turns.
func (p *pass) prompt(k int) dialect.Prompt { return p.prompts[k%len(p.prompts)] }

// firstIndex is the number of conversation k's first request.
func (p *pass) firstIndex(k int) int {
	n := len(p.prompts)
	return k/n*p.offsets[n] + p.offsets[k%n]
}

// offsetsOf numbers the requests: those of prompt i begin at offset i; the last
// offset is the number of requests in all.
func offsetsOf(prompts []dialect.Prompt) []int {
	offsets := make([]int, len(prompts)+1)
	for i, prompt := range prompts {
		offsets[i+1] = offsets[i] + 1 + len(prompt.Turns)
	}
	return offsets
}

// converse makes the requests of conversation k, each when the answers that it
// waits for have ended, and hands each but one of the last to out when it has
// ended. That one it returns, false if there is none. What waits for a failed
// request is not sent, and nothing is after the end of sendCtx.
//
// staged is the first request where it was sent already, or nil.
func (p *pass) converse(ctx, sendCtx context.Context, k, replica int, staged *sending, held bool,
	out chan<- finished,
) (finished, bool) {
	if staged == nil {
		if ctx.Err() != nil {
			p.withheld.Store(true)
			return finished{}, false
		}
		staged = p.stage(ctx, p.opening(k, replica))
		staged.send()
	}

	var c *conversation
	if prompt := p.prompt(k); len(prompt.Turns) > 0 {
		c = newConversation(p, k, replica, prompt, out)
		c.begin(ctx, sendCtx, staged.sentAt)
	}

	f := staged.Wait()
	f.held = held
	p.tally(f.record.Failure)
	if c == nil {
		return f, true
	}

	f, sent := c.run(ctx, sendCtx, 0, f)
	if c.branched.Load() {
		if sent {
			out <- f
		}
		c.branches.Wait()
		return finished{}, false
	}
	return f, sent
}

// opening is the first request of conversation k.
func (p *pass) opening(k, replica int) request {
	prompt := p.prompt(k)
	q := request{
		Encoded: p.bodies[k%len(p.bodies)], index: p.firstIndex(k), replica: replica,
		intended: p.intended(k), inputTokens: prompt.InputTokens, class: prompt.Class, adapter: prompt.Model,
		images: len(prompt.Images), audioS: prompt.AudioS,
	}
	if len(prompt.Turns) > 0 {
		q.conversation, q.turn, q.continued = k+1, 1, prompt.Continued(0)
	}
	return q
}

// conversation is one of several requests, under way. Requests have the
// numbers of dialect.Prompt.Turns.
type conversation struct {
	pass       *pass
	k, replica int
	prompt     dialect.Prompt
	out        chan<- finished

	branched atomic.Bool
	branches sync.WaitGroup

	began     time.Duration // when number 0 was sent
	followers [][]int       // by number: those that wait for its answer

	mu      sync.Mutex
	answers []string  // by number
	ends    []float64 // seconds, by number
	waiting []int     // answers that each number still waits for
}

func newConversation(p *pass, k, replica int, prompt dialect.Prompt, out chan<- finished) *conversation {
	n := 1 + len(prompt.Turns)
	c := &conversation{
		pass: p, k: k, replica: replica, prompt: prompt, out: out,
		followers: make([][]int, n), answers: make([]string, n), ends: make([]float64, n),
		waiting: make([]int, n),
	}
	for number := 1; number < n; number++ {
		before := prompt.WaitsFor(number)
		c.waiting[number] = len(before)
		for _, b := range before {
			c.followers[b] = append(c.followers[b], number)
		}
	}
	return c
}

// begin starts the lines of requests that wait for no answer.
func (c *conversation) begin(ctx, sendCtx context.Context, sent time.Duration) {
	c.began = sent
	var roots []int
	for number := 1; number < len(c.waiting); number++ {
		if c.waiting[number] == 0 {
			roots = append(roots, number)
		}
	}
	for _, number := range roots {
		c.fork(ctx, sendCtx, number)
	}
}

// fork makes request n and what follows from it in a line of its own.
func (c *conversation) fork(ctx, sendCtx context.Context, n int) {
	c.branched.Store(true)
	c.branches.Go(func() {
		f, ok := c.make(ctx, sendCtx, n)
		if ok {
			f, ok = c.run(ctx, sendCtx, n, f)
		}
		if ok {
			c.out <- f
		}
	})
}

// run continues after request n, which ended as f, and returns the last of its
// line, false if all were handed to out. Where several requests waited for n
// alone, the first continues in this line and the others in lines of their own.
func (c *conversation) run(ctx, sendCtx context.Context, n int, f finished) (last finished, sent bool) {
	for f.record.Failure == nil {
		next := c.ended(n, f)
		if len(next) == 0 {
			return f, true
		}

		c.out <- f
		for _, branch := range next[1:] {
			c.fork(ctx, sendCtx, branch)
		}

		var ok bool
		n = next[0]
		if f, ok = c.make(ctx, sendCtx, n); !ok {
			return finished{}, false
		}
	}

	return f, true
}

// ended notes the end of request n and returns those that now wait for no answer any more.
func (c *conversation) ended(n int, f finished) (next []int) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.answers[n], c.ends[n] = f.content, f.record.EndS
	for _, number := range c.followers[n] {
		if c.waiting[number]--; c.waiting[number] == 0 {
			next = append(next, number)
		}
	}

	return next
}

// make makes request n when it is due, and waits for its end. ok is false if
// it was not sent, because sendCtx or the pass ended before.
func (c *conversation) make(ctx, sendCtx context.Context, n int) (f finished, ok bool) {
	p := c.pass
	q, err := c.request(n)
	if err != nil || ctx.Err() != nil || p.over(q.intended) || !p.clock.SleepUntil(sendCtx, q.intended) {
		p.noteEnd(ctx)
		return finished{}, false
	}

	s := p.stage(ctx, q)
	s.send()
	f = s.Wait()
	p.tally(f.record.Failure)
	return f, true
}

// request is request n, whose answers to wait for have ended. Its body is of the same make as the first one's,
// which was checked with all turns, so an error is not to be expected.
func (c *conversation) request(n int) (request, error) {
	ask, intended := c.due(n)
	body, err := c.pass.api.Encode(c.pass.common.Of(c.prompt), ask)
	return request{
		Encoded: body, index: c.pass.firstIndex(c.k) + n, replica: c.replica, conversation: c.k + 1, turn: n + 1,
		intended: intended, inputTokens: c.prompt.Turns[n-1].InputTokens, continued: c.prompt.Continued(n),
		class: c.prompt.Class, adapter: c.prompt.Model,
	}, err
}

// due is what request n asks, and when it is to be sent.
func (c *conversation) due(n int) (dialect.Ask, time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()

	wait := c.pass.opts.ThinkTime
	if s := c.prompt.Turns[n-1].WaitS; s != nil {
		wait = time.Duration(*s * float64(time.Second))
	}
	end := c.began.Seconds()
	for _, before := range c.prompt.WaitsFor(n) {
		end = max(end, c.ends[before])
	}
	return c.prompt.Ask(n, c.answers), time.Duration(end*float64(time.Second)) + wait
}
