package sessions

import (
	"cmp"
	"slices"
)

// link sorts the calls of a session by their starts and finds out what each
// waited for. Where ends are known, a call waited for those that had ended
// before it started, of which only the latest matter: whatever they had waited
// for had ended too. Otherwise each waited for the one before it.
func link(calls []call) []Request {
	for i := range calls {
		if calls[i].untimed && i > 0 {
			calls[i].startS = calls[i-1].startS
		}
	}
	slices.SortStableFunc(calls, func(a, b call) int { return cmp.Compare(a.startS, b.startS) })

	timed := !slices.ContainsFunc(calls, func(c call) bool { return c.endS == nil })
	requests := make([]Request, len(calls))
	for i, c := range calls {
		r := Request{Input: c.input, Output: c.output, Hashes: c.hashes, Whole: true}
		switch {
		case i == 0:
		case timed:
			r.After, r.WaitS = predecessors(calls, i)
		default:
			r.After, r.WaitS = []int{i - 1}, c.waitS
		}

		switch {
		case len(r.After) == 0:
		case c.grown:
			r.Input, r.Whole = grow(calls, c, r.After)
		default:
			r.Whole = c.whole || sharesStart(c, calls[r.After[0]])
		}
		requests[i] = r
	}

	return requests
}

// predecessors are the calls whose answers call i waited for, and how long
// after the last of them it started. A call that started before any had ended
// waits for none, but counts from the session's start.
func predecessors(calls []call, i int) (after []int, waitS *float64) {
	start := calls[i].startS
	latestStart, latestEnd := calls[0].startS, calls[0].startS
	for _, c := range calls[:i] {
		if *c.endS <= start {
			latestStart = max(latestStart, c.startS)
			latestEnd = max(latestEnd, *c.endS)
		}
	}

	after = []int{}
	for j, c := range calls[:i] {
		if *c.endS <= start && (*c.endS > latestStart || *c.endS == latestEnd) {
			after = append(after, j)
		}
	}

	// The one that it continues from comes first: that with which it shares most.
	slices.SortStableFunc(after, func(a, b int) int {
		return cmp.Compare(common(calls[i].hashes, calls[b].hashes), common(calls[i].hashes, calls[a].hashes))
	})

	return after, new(start - latestEnd)
}

func common(a, b []uint64) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// sharesStart distinguishes a whole prompt from an addition: a whole one begins with the blocks of the one before.
func sharesStart(c, before call) bool { return common(c.hashes, before.hashes) > 0 }

// grow finds the call that c continues from, the longest that fits into its
// prompt, and puts it first. input is what c adds to it; c is alone if
// none fits.
func grow(calls []call, c call, after []int) (input int, whole bool) {
	said := func(i int) int { return calls[i].input + calls[i].output }
	best := -1
	for at, i := range after {
		if said(i) <= c.input && (best < 0 || said(i) > said(after[best])) {
			best = at
		}
	}
	if best < 0 {
		return c.input, true
	}

	after[0], after[best] = after[best], after[0]
	return max(1, c.input-said(after[0])), false
}
