package vram

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/results"
)

// readTime is what a reading may take: a driver that takes longer is stuck.
const readTime = 20 * time.Second

// Reader reads memory within limits, even where a driver hangs in a system call
// that nothing ends: such a reading is left alone, and no other is begun beside
// it.
type Reader struct {
	memory  Memory
	used    reading[map[string]int64]
	holders reading[[]results.GPUHolder]
}

// NewReader reads memory; nil for nil.
func NewReader(memory Memory) *Reader {
	if memory == nil {
		return nil
	}

	return &Reader{memory: memory}
}

// Used is Memory.Used.
func (r *Reader) Used(ctx context.Context) (map[string]int64, error) {
	return r.used.do(ctx, r.memory.Used)
}

// Holders is Memory.Holders.
func (r *Reader) Holders(ctx context.Context) ([]results.GPUHolder, error) {
	return r.holders.do(ctx, r.memory.Holders)
}

// reading is a call that may never return.
type reading[T any] struct {
	mu    sync.Mutex
	stuck *answer[T] // of a call that was left alone
}

type answer[T any] struct {
	done  chan struct{} // closed when the rest is there
	value T
	err   error
}

// do calls read and waits for its answer, up to readTime or until ctx is done.
// While an earlier call is stuck, its answer is waited for, and thrown away.
func (r *reading[T]) do(ctx context.Context, read func(context.Context) (T, error)) (T, error) {
	r.mu.Lock()
	defer r.mu.Unlock()

	var none T
	limited, cancel := awake.WithTimeout(ctx, readTime)
	defer cancel()

	if r.stuck != nil {
		select {
		case <-r.stuck.done:
			r.stuck = nil
		case <-limited.Done():
			return none, fmt.Errorf("an earlier reading of GPU memory still hangs in the driver")
		}
	}

	a := &answer[T]{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.value, a.err = read(limited)
	}()

	select {
	case <-a.done:
		return a.value, a.err
	case <-limited.Done():
		r.stuck = a
		if ctx.Err() != nil {
			return none, fmt.Errorf("read GPU memory: %w", context.Cause(ctx))
		}
		return none, fmt.Errorf("read GPU memory: no answer of the driver within %v", readTime)
	}
}
