package sse

import (
	"errors"
	"math"
	"runtime/debug"
	"sync/atomic"
)

// ErrOverBudget says that the answers in flight hold too much memory together.
var ErrOverBudget = errors.New("the answers in flight hold too much memory together")

// Budget bounds the memory that all answers of a pass hold at the same time: each
// answer is bounded, but thousands of long ones together could still exhaust the
// machine. Whoever keeps more of an answer takes bytes out of the budget first, and
// gives them back once the answer is dropped. A nil Budget bounds nothing.
type Budget struct{ left atomic.Int64 }

// newBudget returns a budget of that many bytes.
func newBudget(bytes int64) *Budget {
	b := new(Budget)
	b.left.Store(bytes)
	return b
}

// DefaultBudget returns a budget of a quarter of this program's memory limit
// (GOMEMLIMIT), at most 2 GiB.
func DefaultBudget() *Budget {
	const most, share = 2 << 30, 4
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return newBudget(most)
	}
	return newBudget(min(most, limit/share))
}

// Take takes bytes out of the budget. It returns false, and takes nothing, if fewer
// are left.
func (b *Budget) Take(bytes int) bool {
	if b == nil || bytes <= 0 {
		return true
	}
	if b.left.Add(-int64(bytes)) < 0 {
		b.left.Add(int64(bytes))
		return false
	}
	return true
}

// Give puts bytes back that were taken.
func (b *Budget) Give(bytes int) {
	if b != nil {
		b.left.Add(int64(bytes))
	}
}
