package hooks

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/benchrig/bench/scenarios"
)

// GPUs gives what the GPUs of the machine report about themselves.
type GPUs interface {
	States(ctx context.Context) ([]GPUState, error)
}

// GPUState is what checks ask of one GPU; nil is not known.
type GPUState struct {
	Device      string
	PowerLimitW *float64
	FreeBytes   *int64
}

// look says what was found. The error says that the condition does not hold,
// or that this is unknown, which counts the same.
func (r *Runner) look(ctx context.Context, c scenarios.Check, limit time.Duration) (string, error) {
	switch c.Kind {
	case "kernel-parameter":
		return r.kernelParameter(c)
	case "governor":
		return r.governor(c.Want)
	case "numa-balancing":
		return r.file("/proc/sys/kernel/numa_balancing", c.Want)
	case "power-limit":
		return r.powerLimit(ctx, c.Want)
	case "free-vram":
		return r.freeVRAM(ctx, c)
	case "free-disk":
		return r.freeDisk(c)
	case "file":
		return r.file(c.Name, c.Want)
	case "command":
		return r.command(ctx, command{argv: c.Argv, limit: limit})
	}

	return "", fmt.Errorf("a check of kind %q is not known", c.Kind)
}

func (r *Runner) states(ctx context.Context) ([]GPUState, error) {
	if r.GPUs == nil {
		return nil, errors.New("no GPU detected on this machine")
	}
	states, err := r.GPUs.States(ctx)
	if err == nil && len(states) == 0 {
		err = errors.New("no GPU detected on this machine")
	}
	return states, err
}

// powerLimit: watts within half a watt, for drivers round.
func (r *Runner) powerLimit(ctx context.Context, want string) (string, error) {
	watts, err := strconv.ParseFloat(want, 64)
	if err != nil {
		return "", fmt.Errorf("%q is not a number of watts", want)
	}

	states, err := r.states(ctx)
	if err != nil {
		return "", err
	}

	return each(states, func(s GPUState) (string, bool) {
		if s.PowerLimitW == nil {
			return "an unknown power limit", false
		}
		off := *s.PowerLimitW - watts
		return fmt.Sprintf("a power limit of %g W", *s.PowerLimitW), off < 0.5 && off > -0.5
	}, fmt.Sprintf("%g W", watts))
}

func (r *Runner) freeVRAM(ctx context.Context, c scenarios.Check) (string, error) {
	states, err := r.states(ctx)
	if err != nil {
		return "", err
	}
	return each(states, func(s GPUState) (string, bool) {
		if s.FreeBytes == nil {
			return "an unknown amount of free memory", false
		}
		return gib(*s.FreeBytes) + " free", *s.FreeBytes >= c.Bytes()
	}, "at least "+c.Want)
}

// each asks a condition of every GPU and names those for which it fails.
func each(states []GPUState, look func(GPUState) (found string, holds bool), want string) (string, error) {
	var bad []string
	for _, s := range states {
		if found, holds := look(s); !holds {
			bad = append(bad, fmt.Sprintf("%s has %s", s.Device, found))
		}
	}
	if len(bad) > 0 {
		return "", fmt.Errorf("%s; want %s", strings.Join(bad, ", "), want)
	}
	return fmt.Sprintf("%s on all %d GPUs", want, len(states)), nil
}

func gib(bytes int64) string { return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30)) }
