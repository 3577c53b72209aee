package telemetry

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/results"
)

const (
	strangersPeriod = 10 * time.Second
	strangersLimit  = 3 * time.Second // for one look
)

// strangers looks, while a step runs, for processes on its GPUs that are not
// of its servers.
type strangers struct {
	source  Source
	servers []step.Server
	ids     []string // of the devices
	stop    chan struct{}
	done    chan struct{}

	mu  sync.Mutex // guards what follows
	all []results.GPUHolder
}

// watchStrangers begins to look: now, every now and then, and at the end.
func watchStrangers(ctx context.Context, source Source, servers []step.Server, ids []string) *strangers {
	s := &strangers{source: source, servers: servers, ids: ids, stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		open, free := sleep.UnlessClosed(ctx, s.stop)
		defer free()
		for s.look(ctx); sleep.For(open, strangersPeriod); {
			s.look(ctx)
		}
		if ctx.Err() == nil {
			s.look(ctx)
		}
	}()
	return s
}

// end takes a last look, unless looking hangs.
func (s *strangers) end() {
	close(s.stop)
	select {
	case <-s.done:
	case <-time.After(2 * strangersLimit):
	}
}

func (s *strangers) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, strangersLimit)
	defer cancel()

	holders, err := s.source.Holders(ctx)
	if err != nil {
		return // who cannot be seen is not accused
	}

	own, known := ownPIDs(s.servers)
	if !known {
		return
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	for _, h := range foreign(holders, own, s.ids, placed(s.servers)) {
		if !slices.ContainsFunc(s.all, func(x results.GPUHolder) bool {
			return x.PID == h.PID && x.Device == h.Device
		}) {
			s.all = append(s.all, h)
		}
	}
}

// found are the strangers seen so far.
func (s *strangers) found() []results.GPUHolder {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all)
}

// ownPIDs are the processes of servers, and bench itself. They are known only
// if every server knows its own.
func ownPIDs(servers []step.Server) (pids []int, known bool) {
	pids = []int{os.Getpid()}
	for _, s := range servers {
		of := s.Abilities().OwnPIDs
		if of == nil {
			return nil, false
		}
		own := of()
		if len(own) == 0 {
			return nil, false
		}
		pids = append(pids, own...)
	}
	return pids, len(servers) > 0
}

// placed reports whether servers were given GPUs of their own.
func placed(servers []step.Server) bool {
	return slices.ContainsFunc(servers, func(s step.Server) bool { return len(s.Info().GPUs) > 0 })
}

// foreign are the holders of the devices that are not among our processes.
// Where servers were given GPUs and none of our processes is seen on them, the
// numbers are of another PID namespace, and processes cannot be told apart.
func foreign(holders []results.GPUHolder, own []int, ids []string, placed bool) []results.GPUHolder {
	var others []results.GPUHolder
	ours := false
	for _, h := range holders {
		switch {
		case slices.Contains(own, h.PID):
			ours = true
		case h.Device == "" || slices.Contains(ids, h.Device):
			others = append(others, h)
		}
	}
	if placed && !ours {
		return nil
	}
	return others
}

// warnOfStrangers adds the doubt that strangers give.
func (m *Monitor) warnOfStrangers(found []results.GPUHolder, result *results.Result) {
	if len(found) == 0 {
		return
	}

	var parts []string
	for _, h := range found {
		text := fmt.Sprintf("%s (PID %d)", h.Name, h.PID)
		if h.Bytes != nil {
			text += fmt.Sprintf(" holds %.1f MiB", float64(*h.Bytes)/(1<<20))
		}
		if at := slices.IndexFunc(m.Machine.Devices,
			func(d device.Device) bool { return d.ID() == h.Device }); at >= 0 {
			text += fmt.Sprintf(" of GPU %d", m.Machine.Devices[at].Index)
		}
		parts = append(parts, text)
	}

	result.Warnf(results.WarnForeignGPUUser, "processes that bench did not start used the GPUs of the step: %s",
		strings.Join(parts, ", "))
}
