package main

import (
	"context"

	"github.com/benchrig/bench/harness/state"
)

// takeBox takes the box for what is done, and waits for it if asked to.
func takeBox(ctx context.Context, e env, box *state.Box, what string, wait bool) (*state.Lock, error) {
	if !wait {
		return box.Lock(what)
	}
	told := &boxWaiting{e: e, box: box}
	defer told.tell(ctx)()
	return box.WaitLock(ctx, what, told.waiting)
}
