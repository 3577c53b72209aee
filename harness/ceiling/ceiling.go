// Package ceiling computes what a prefix cache can find at most of the prompts of a
// pass.
//
// Prompts and the records of their requests go in; a share comes out, with the
// number of requests that it is of. It measures no cache and judges none.
package ceiling

import (
	"slices"
	"strings"

	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
)

// Of is the share of the prompts that a cache finds at most which was empty and
// forgets nothing: what prompts share, and all of those that are sent again. After
// a warm-up with the same prompts (warm) it is everything. n are the requests that
// the share is of. Nil: not known.
func Of(prompts []load.Prompt, records []results.Record, warm bool) (share *float64, n *int) {
	if slices.ContainsFunc(prompts, hasTurns) {
		return ofTurns(prompts, records, warm)
	}

	shared, _ := Shared(prompts)
	requests := len(records)
	switch sent := len(prompts); {
	case sent == 0 || requests == 0:
		return nil, nil
	case warm:
		shared = 1
	case requests > sent:
		shared = (shared*float64(sent) + float64(requests-sent)) / float64(requests)
	}
	return &shared, &requests
}

// Shared is how much of the prompts an empty cache that forgets nothing would find
// while they are sent once: of each, the beginning that another one has too. Not
// known of conversations, whose prompts hold answers.
func Shared(prompts []load.Prompt) (share float64, known bool) {
	if slices.ContainsFunc(prompts, hasTurns) {
		return 0, false
	}
	share, _ = openings(prompts)
	return share, true
}

func hasTurns(p load.Prompt) bool { return len(p.Turns) > 0 }

// turn is a request of a conversation: the numbers of its prompt and of itself,
// both as in load.Prompt.
type turn struct{ prompt, number int }

// ofTurns is the ceiling of conversations, over the requests that were answered.
//
// A turn finds at most the prompt and the answer of the turn that it continues. One
// that continues none finds what such turns share. All of a turn can be found
// whose conversation was sent before, or begins as another one does.
func ofTurns(prompts []load.Prompt, records []results.Record, warm bool) (share *float64, n *int) {
	type sent struct{ conversation, turn int } // as in results.Record
	said := map[sent]int{}                     // tokens of prompt and answer; missing: not known
	for i := range records {
		if r := &records[i]; r.Failure == nil && r.InputTokens != nil && answerCounted(r) {
			said[sent{r.Conversation, r.Turn}] = *r.InputTokens + *r.OutputTokens
		}
	}

	shared, again := openings(prompts)
	found, total, answered := 0.0, 0, 0
	for i := range records {
		r := &records[i]
		if r.Failure != nil {
			continue
		}
		at, ok := turnOf(prompts, r)
		if !ok || r.InputTokens == nil {
			return nil, nil
		}

		most := float64(*r.InputTokens)
		switch before, continues := continued(prompts, at); {
		case warm || r.Conversation > len(prompts) || again[opening(prompts, at)] && continues:
		case !continues:
			most *= shared
		default:
			tokens, known := said[sent{r.Conversation, before + 1}]
			if !known {
				return nil, nil
			}
			most = min(most, float64(tokens))
		}
		found, total, answered = found+most, total+*r.InputTokens, answered+1
	}

	if total == 0 {
		return nil, nil
	}
	return new(found / float64(total)), &answered
}

// answerCounted reports whether the server counted the tokens of an answer. Other
// counts can be too low, and what follows from them no upper limit.
func answerCounted(r *results.Record) bool {
	return r.OutputTokens != nil &&
		(r.OutputTokensSource == results.CountUsage || r.OutputTokensSource == results.CountTimings)
}

// turnOf is the turn that a record is of; false where the prompts have no such turn.
func turnOf(prompts []load.Prompt, r *results.Record) (turn, bool) {
	if r.Conversation < 1 { // a prompt of one request among conversations
		return turn{}, false
	}
	at := turn{(r.Conversation - 1) % len(prompts), r.Turn - 1}
	return at, at.number >= 0 && at.number <= len(prompts[at.prompt].Turns)
}

// continued is the number of the turn that a turn continues; false: none.
func continued(prompts []load.Prompt, at turn) (number int, ok bool) {
	p := prompts[at.prompt]
	if at.number == 0 || p.Turns[at.number-1].Whole {
		return 0, false
	}
	return p.WaitsFor(at.number)[0], true
}

// opening is the turn with which the messages of a turn begin.
func opening(prompts []load.Prompt, at turn) turn {
	for {
		number, ok := continued(prompts, at)
		if !ok {
			return at
		}
		at.number = number
	}
}

// openings compares the turns that continue none, prompts of one request among
// them: how much of them is the beginning of another one too, and which of them
// are the same as one before.
func openings(prompts []load.Prompt) (share float64, again map[turn]bool) {
	var texts []string
	var ids [][]int
	again = map[turn]bool{}
	seen := map[string]bool{}
	add := func(at turn, text string, list []int) {
		if list != nil {
			ids = append(ids, list)
			return // a conversation has text
		}
		texts = append(texts, text)
		again[at], seen[text] = seen[text], true
	}
	for i, p := range prompts {
		add(turn{i, 0}, p.Text, p.TokenIDs)
		for k, t := range p.Turns {
			if t.Whole {
				add(turn{i, k + 1}, t.Text, t.TokenIDs)
			}
		}
	}

	// Sorted, each is beside one with which it shares most.
	slices.Sort(texts)
	slices.SortStableFunc(ids, slices.Compare)
	shared, total := 0, 0
	for i, text := range texts {
		total += len(text)
		if i > 0 {
			shared += commonBytes(texts[i-1], text)
		}
	}
	for i, list := range ids {
		total += len(list)
		if i > 0 {
			shared += commonIDs(ids[i-1], list)
		}
	}

	if total == 0 {
		return 0, again
	}
	return float64(shared) / float64(total), again
}

func commonBytes(a, b string) int {
	n := min(len(a), len(b))
	if strings.HasPrefix(a, b[:n]) {
		return n
	}
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func commonIDs(a, b []int) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
