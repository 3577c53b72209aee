package launchers

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benchrig/bench/launchers/recipe"
)

func TestDrain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		running []int // answers, the last for ever; -1: no metrics
		limit   time.Duration
		killNow bool
		says    string
		least   int // answers that were asked for
	}{
		{"no limit", []int{3}, 0, false, "", 0},
		{"idle", []int{0}, time.Minute, false, "", 1},
		{"becomes idle", []int{2, 1, 0}, time.Minute, false, "", 3},
		{"stays busy", []int{2}, 2 * time.Second, false, "2 requests still running", 2},
		{"killed now", []int{2}, time.Minute, true, "2 requests still running", 2},
		{"no metrics", []int{-1}, time.Minute, false, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			killNow := make(chan struct{})
			remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				look := int(asked.Add(1))
				if c.killNow && look == 2 { // the answer to the first has been read by now
					close(killNow)
				}
				n := c.running[min(look, len(c.running))-1]
				if n < 0 {
					http.NotFound(w, r)
					return
				}
				fmt.Fprintf(w, "vllm:num_requests_running %d\nvllm:num_requests_waiting 0\n", n)
			}))
			defer remote.Close()
			server := Attach(vllm(t), recipe.Spec{BaseURL: remote.URL, Drain: c.limit})
			began := time.Now()
			message := server.drain(context.Background(), killNow)
			if (message == "") != (c.says == "") || !strings.Contains(message, c.says) ||
				int(asked.Load()) < c.least {
				t.Errorf("drain() = %q after %d looks, want %q after %d at least", message, asked.Load(), c.says,
					c.least)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("drain() took %v", took)
			}
		})
	}
}
