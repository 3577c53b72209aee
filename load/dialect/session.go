package dialect

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Ask returns what request number n of the prompt asks. answers holds the answers
// so far by number; only those that n continues are used.
func (p Prompt) Ask(n int, answers []string) Ask {
	var chain []int // numbers that are continued, the last first
	for n > 0 && !p.Turns[n-1].Whole {
		chain = append(chain, n)
		n = p.WaitsFor(n)[0]
	}

	ask := Ask{Prompt: p}
	if n > 0 {
		t := p.Turns[n-1]
		ask.Prompt = Prompt{
			Text: t.Text, TokenIDs: t.TokenIDs, InputTokens: t.InputTokens, OutputTokens: t.OutputTokens,
		}
	}

	ask.Turns = nil
	for _, number := range slices.Backward(chain) {
		ask.Answers = append(ask.Answers, answers[p.WaitsFor(number)[0]])
		t := p.Turns[number-1]
		ask.Turns = append(ask.Turns, Turn{Text: t.Text, OutputTokens: t.OutputTokens})
	}

	return ask
}

// WaitsFor lists the numbers whose answers number n, from 1, waits for.
func (p Prompt) WaitsFor(n int) []int {
	if after := p.Turns[n-1].After; after != nil {
		return after
	}
	return []int{n - 1}
}

// Continued reports whether a turn continues the answer to number n.
func (p Prompt) Continued(n int) bool {
	for i, t := range p.Turns {
		if !t.Whole && p.WaitsFor(i + 1)[0] == n {
			return true
		}
	}
	return false
}

// checkTurns refuses turns that cannot be sent.
func (p Prompt) checkTurns() error {
	for i, t := range p.Turns {
		number := i + 1
		switch {
		case t.Text == "" && (!t.Whole || len(t.TokenIDs) == 0):
			return fmt.Errorf("encode prompt: turn %d of the conversation has no text", number)
		case t.Text != "" && len(t.TokenIDs) > 0:
			return fmt.Errorf("encode prompt: turn %d has both text and token ids", number)
		case t.WaitS != nil && !(*t.WaitS >= 0 && *t.WaitS < math.MaxInt64/1e9/2):
			return fmt.Errorf("encode prompt: turn %d waits %v s, want 0 or more", number, *t.WaitS)
		case !t.Whole && t.After != nil && len(t.After) == 0:
			return fmt.Errorf("encode prompt: turn %d continues no other turn", number)
		}

		for _, before := range t.After {
			if before < 0 || before >= number {
				return fmt.Errorf("encode prompt: turn %d waits for number %d, which is not before it", number, before)
			}
		}

		if !t.Whole && p.tokenIDs(p.WaitsFor(number)[0]) {
			return errors.New("encode prompt: a conversation takes text, not token ids")
		}
	}

	return nil
}

// tokenIDs reports whether the conversation that number n belongs to began with token ids.
func (p Prompt) tokenIDs(n int) bool {
	for n > 0 && !p.Turns[n-1].Whole {
		n = p.WaitsFor(n)[0]
	}
	if n > 0 {
		return len(p.Turns[n-1].TokenIDs) > 0
	}
	return len(p.TokenIDs) > 0
}

func (t Turn) isIDs() bool { return len(t.TokenIDs) > 0 }
