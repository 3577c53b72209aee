package agent

import (
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/dialect"
)

// share is an agent's part of a job. Conversations, which are single requests
// where prompts have no turns, are dealt out like cards: of three agents the
// first gets numbers 0, 3, 6.
type share struct {
	Agents int `json:"agents"`
	Agent  int `json:"agent"` // from 0
	// where each prompt's requests begin, and the number of requests of all prompts; they are repeated in this order
	Cycle []int `json:"cycle"`

	own []int // where the requests of each prompt of this agent begin, as in Cycle
}

// cycleOf numbers the requests of prompts.
func cycleOf(prompts []dialect.Prompt) []int {
	cycle := make([]int, len(prompts)+1)
	for i, p := range prompts {
		cycle[i+1] = cycle[i] + 1 + len(p.Turns)
	}
	return cycle
}

// requestsOf is how many requests the prompts make where none fails.
func requestsOf(prompts []load.Prompt) int { return cycleOf(prompts)[len(prompts)] }

// deal picks an agent's prompts and their times. With repeats, its list is as
// long as it takes until it starts over.
func (s share) deal(opts load.Options, prompts []dialect.Prompt) ([]dialect.Prompt, []float64) {
	n := len(prompts)
	last := n
	if opts.Repeat {
		last = n / gcd(n, s.Agents) * s.Agents
	}

	var mine []dialect.Prompt
	for k := s.Agent; k < last; k += s.Agents {
		mine = append(mine, prompts[k%n])
	}

	if opts.Arrivals == nil {
		return mine, nil
	}

	at := make([]float64, 0, len(opts.Arrivals)/s.Agents+1)
	for k := s.Agent; k < len(opts.Arrivals); k += s.Agents {
		at = append(at, opts.Arrivals[k])
	}

	return mine, at
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// of remembers where the requests of the agent's own prompts begin.
func (s *share) of(prompts []dialect.Prompt) { s.own = cycleOf(prompts) }

// number is what the agent's request i is among all: its index, and that of its
// conversation.
func (s *share) number(i int) (index, conversation int) {
	rounds, rest := i/s.own[len(s.own)-1], i%s.own[len(s.own)-1]
	at := 0
	for s.own[at+1] <= rest {
		at++
	}
	conversation = (rounds*(len(s.own)-1)+at)*s.Agents + s.Agent
	n := len(s.Cycle) - 1
	index = conversation/n*s.Cycle[n] + s.Cycle[conversation%n] + rest - s.own[at]
	return index, conversation
}

// concurrency is an agent's part of a cap: an even one, the rest to the first.
func (s share) concurrency(limit int) int {
	if limit == 0 {
		return 0
	}
	part := limit / s.Agents
	if s.Agent < limit%s.Agents {
		part++
	}
	return part
}

// activeAgents is how many of the agents get something to do: one without a place under
// the cap, or without a request, would do nothing or know no cap.
func activeAgents(agents int, opts *load.Options, prompts int) int {
	if opts.MaxConcurrency > 0 {
		agents = min(agents, opts.MaxConcurrency)
	}
	if opts.Repeat && opts.Arrivals != nil {
		prompts = len(opts.Arrivals)
	}
	if !opts.Repeat || opts.Arrivals != nil {
		agents = min(agents, prompts)
	}
	return max(agents, 1)
}
