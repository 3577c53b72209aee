package launchers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/serverlog"
)

// resetWait is how long the log's line may take after the answer.
const resetWait = 3 * time.Second

// ResetCache empties the server's prefix cache and says how. The error says
// why it did not happen, or cannot be known to have; errors.ErrUnsupported
// where the kind has no such call.
func (s *Server) ResetCache(ctx context.Context) (how string, err error) {
	reset := s.kind.Reset
	switch {
	case reset == nil:
		return "", fmt.Errorf("reset prefix cache: launcher %s has no call for it: %w", s.kind.Name, errors.ErrUnsupported)
	case reset.MustSay && s.log == nil:
		return "", fmt.Errorf("reset prefix cache: %s answers 200 whether or not it did it, and its log cannot be seen: %w", s.kind.Name, errors.ErrUnsupported)
	case reset.Path == "":
		return s.eraseSlots(ctx, reset)
	}
	if s.log == nil {
		return reset.Path, resetAnswer(s.probe.ask(ctx, http.MethodPost, reset.Path, nil, probeTime), reset)
	}
	s.log.Read() // earlier lines are about earlier resets
	mark, unmark := s.log.Mark(reset.Done, reset.Refused)
	defer unmark()
	if err := resetAnswer(s.probe.ask(ctx, http.MethodPost, reset.Path, nil, probeTime), reset); err != nil {
		return "", err
	}
	return reset.Path, s.confirmed(ctx, mark, reset)
}

// confirmed waits for the log to say what became of a reset.
func (s *Server) confirmed(ctx context.Context, mark *serverlog.Mark, reset *engines.Reset) error {
	limited, cancel := context.WithTimeout(ctx, resetWait)
	defer cancel()
	for {
		s.log.Read()
		select {
		case line := <-mark.Saw:
			if !mark.Ok {
				return fmt.Errorf("reset prefix cache: the server's log says %q: wait until no request is running", text.Shorten(line))
			}
			return nil
		default:
		}
		if !sleep.For(limited, minPoll) {
			break
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case reset.MustSay:
		return fmt.Errorf("reset prefix cache: %s: the log does not say within %v that it was done", s.kind.Name, resetWait)
	}
	return nil
}

// resetAnswer judges what came back.
func resetAnswer(a answer, reset *engines.Reset) error {
	switch {
	case a.err == nil && (a.status == http.StatusNotFound || a.status == http.StatusNotImplemented):
		return fmt.Errorf("reset prefix cache: %s: the server needs %s for it: %w", a, reset.Needs, errors.ErrUnsupported)
	case a.err == nil && a.status == http.StatusBadRequest:
		return fmt.Errorf("reset prefix cache: %s: wait until no request is running", a)
	case !a.ok():
		return fmt.Errorf("reset prefix cache: %w", a.failure())
	}
	return nil
}

// eraseSlots empties the slots of llama-server one by one. Prompts that it
// keeps in host memory (--cache-ram) stay.
func (s *Server) eraseSlots(ctx context.Context, reset *engines.Reset) (string, error) {
	slots, err := s.slots(ctx)
	if err != nil {
		return "", fmt.Errorf("reset prefix cache: %w", err)
	}
	for _, slot := range slots {
		a := s.probe.ask(ctx, http.MethodPost, fmt.Sprintf("/slots/%d?action=erase", slot.ID), map[string]any{}, probeTime)
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

func (s *Server) slots(ctx context.Context) ([]slot, error) {
	a := s.probe.get(ctx, "/slots")
	var slots []slot
	switch {
	case !a.ok():
		return nil, a.failure()
	case json.Unmarshal(a.body, &slots) != nil:
		return nil, unusable(a)
	}
	return slots, nil
}
