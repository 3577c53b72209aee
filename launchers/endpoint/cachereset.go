package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/scrape"
	"github.com/benchrig/bench/launchers/serverlog"
)

// resetWait is how long the log's line may take after the answer.
const (
	resetWait = 3 * time.Second
	logPoll   = 100 * time.Millisecond
)

// ResetCache empties the server's prefix cache and says how. The error says
// why it did not happen, or cannot be known to have; errors.ErrUnsupported
// where the kind has no such call.
func (e *Endpoint) ResetCache(ctx context.Context) (how string, err error) {
	reset := e.kind.API.Reset
	switch {
	case reset == nil:
		return "", fmt.Errorf("reset prefix cache: launcher %s has no call for it: %w", e.kind.Name,
			errors.ErrUnsupported)
	case reset.MustSay && e.log == nil:
		return "", fmt.Errorf("reset prefix cache: %s answers 200 whether or not it did it, and its log cannot be "+
			"seen: %w", e.kind.Name, errors.ErrUnsupported)
	case reset.Path == "":
		return e.eraseSlots(ctx, reset)
	}

	if e.log == nil {
		return reset.Path, resetAnswer(e.probe.ask(ctx, http.MethodPost, reset.Path, nil, probeTime), reset)
	}

	e.log.Read() // earlier lines are about earlier resets
	mark, unmark := e.log.Mark(reset.Done, reset.Refused)
	defer unmark()

	if err := resetAnswer(e.probe.ask(ctx, http.MethodPost, reset.Path, nil, probeTime), reset); err != nil {
		return "", err
	}

	return reset.Path, e.confirmed(ctx, mark, reset)
}

// confirmed waits for the log to say what became of a reset.
func (e *Endpoint) confirmed(ctx context.Context, mark *serverlog.Mark, reset *engines.Reset) error {
	limited, cancel := awake.WithTimeout(ctx, resetWait)
	defer cancel()

	for {
		e.log.Read()
		select {
		case line := <-mark.Saw:
			if !mark.Ok {
				return fmt.Errorf("reset prefix cache: the server's log says %q: wait until no request is running",
					text.Shorten(line))
			}
			return nil
		default:
		}
		if !sleep.For(limited, logPoll) {
			break
		}
	}

	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case reset.MustSay:
		return fmt.Errorf("reset prefix cache: %s: the log does not say within %v that it was done", e.kind.Name,
			resetWait)
	}

	return nil
}

// resetAnswer judges what came back.
func resetAnswer(a Answer, reset *engines.Reset) error {
	switch {
	case a.Err == nil && (a.Status == http.StatusNotFound || a.Status == http.StatusNotImplemented):
		return fmt.Errorf("reset prefix cache: %s: the server needs %s for it: %w", a, reset.Needs,
			errors.ErrUnsupported)
	case a.Err == nil && a.Status == http.StatusBadRequest:
		return fmt.Errorf("reset prefix cache: %s: wait until no request is running", a)
	case !a.OK():
		return fmt.Errorf("reset prefix cache: %w", a.Failure())
	}
	return nil
}

// eraseSlots empties the slots of llama-server one by one. Prompts that it
// keeps in host memory (--cache-ram) stay.
func (e *Endpoint) eraseSlots(ctx context.Context, reset *engines.Reset) (string, error) {
	slots, err := e.Slots(ctx)
	if err != nil {
		return "", fmt.Errorf("reset prefix cache: %w", err)
	}
	for _, slot := range slots {
		a := e.probe.ask(ctx, http.MethodPost, fmt.Sprintf("/slots/%d?action=erase", slot.ID), e.named(), probeTime)
		if err := resetAnswer(a, reset); err != nil {
			return "", err
		}
	}
	return "/slots?action=erase", nil
}

// slot is one of llama-server's places for a request.
type slot struct {
	ID   int  `json:"id"`
	Busy bool `json:"is_processing"`
}

// Slots asks llama-server for its slots. The error is a *results.Failure if it gives no usable list.
func (e *Endpoint) Slots(ctx context.Context) ([]slot, error) {
	a := e.probe.get(ctx, e.ofModel("/slots"))
	var slots []slot
	switch {
	case !a.OK():
		return nil, a.Failure()
	case json.Unmarshal(a.Body, &slots) != nil:
		return nil, unusable(a)
	}
	return slots, nil
}

// Outstanding is the number of requests that the server works on or has
// queued; false if it does not tell.
func (e *Endpoint) Outstanding(ctx context.Context) (int, bool) {
	if metrics, err := e.Metrics(ctx); err == nil {
		if running, ok := metrics[scrape.Running]; ok {
			return int(running + metrics[scrape.Waiting]), true
		}
	}

	if e.kind.API.Reset == nil || e.kind.API.Reset.Path != "" {
		return 0, false
	}

	slots, err := e.Slots(ctx)
	busy := 0
	for _, slot := range slots {
		if slot.Busy {
			busy++
		}
	}

	return busy, err == nil
}
