package load

import (
	"context"
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

// converse makes the requests of conversation k, one after the other, and
// hands each but the last to out when it has ended. The last it returns, false
// if there is none. A failed request ends the conversation, and so does the
// end of sendCtx.
//
// staged is the first request where it was sent already, or nil.
func (p *pass) converse(ctx, sendCtx context.Context, k, replica int, staged *sending, held bool,
	out chan<- finished,
) (finished, bool) {
	q, talk := p.opening(k, replica)
	for {
		if staged == nil && ctx.Err() != nil {
			p.withheld.Store(true)
			return finished{}, false
		}
		if staged == nil {
			staged = p.stage(ctx, q)
			staged.send()
		}
		f := staged.Wait()
		staged = nil
		f.held = held
		p.tally(f.record.Failure)
		if f.record.Failure != nil || !q.moreTurns {
			return f, true
		}
		talk.Answers = append(talk.Answers, f.content)
		if !p.nextTurn(sendCtx, &q, talk, f.record.EndS) {
			p.noteEnd(ctx)
			return f, true
		}
		held = false
		out <- f
	}
}

// opening is the first request of conversation k.
func (p *pass) opening(k, replica int) (request, dialect.Ask) {
	prompt := p.prompt(k)
	q := request{
		Encoded: p.bodies[k%len(p.bodies)], index: p.firstIndex(k), replica: replica,
		intended: p.intended(k), inputTokens: prompt.InputTokens,
	}
	if len(prompt.Turns) > 0 {
		q.conversation, q.turn, q.moreTurns = k+1, 1, true
	}
	return q, dialect.Ask{Prompt: prompt}
}

// nextTurn makes q the conversation's next request and waits until it is due.
// end is when the answer before it ended, in seconds.
func (p *pass) nextTurn(sendCtx context.Context, q *request, talk dialect.Ask, end float64) bool {
	q.index++
	q.turn++
	q.moreTurns = q.turn <= len(talk.Turns)
	q.inputTokens = 0
	q.intended = time.Duration(end*float64(time.Second)) + p.opts.ThinkTime
	if p.over(q.intended) {
		return false
	}
	// The first turn's body was made in the same way, so this cannot fail.
	next, err := p.api.Encode(p.common, talk)
	q.Encoded = next
	return err == nil && p.clock.SleepUntil(sendCtx, q.intended)
}
