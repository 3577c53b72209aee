package harness

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/harness/life"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// portsOf are the ports of servers, so that others can take them.
func portsOf(servers []results.Server) []int {
	ports := make([]int, len(servers))
	for i, s := range servers {
		if u, err := url.Parse(s.BaseURL); err == nil {
			ports[i], _ = strconv.Atoi(u.Port())
		}
	}
	return ports
}

// passesDiffer says in what the servers of two passes differ; "":
// nothing that they tell.
func passesDiffer(first, second []results.Server) string {
	if len(first) != len(second) {
		return fmt.Sprintf("%s, in the first pass %d", text.Count(len(second), "server"), len(first))
	}

	var all []string
	for i := range first {
		a, b := first[i], second[i]
		for _, c := range []struct {
			what          string
			before, after any
		}{
			{"launcher", a.Launcher, b.Launcher},
			{"model", a.Model, b.Model},
			{"engine version", a.Version, b.Version},
			{"command", sameCommand(a), sameCommand(b)},
			{"GPUs", fmt.Sprint(a.GPUs), fmt.Sprint(b.GPUs)},
			{"variables not inherited", fmt.Sprint(a.DroppedEnv), fmt.Sprint(b.DroppedEnv)},
			{"context length", startupSays(a, startupContext), startupSays(b, startupContext)},
			{"slots", startupSays(a, startupSlots), startupSays(b, startupSlots)},
		} {
			if c.before != c.after {
				all = append(all, fmt.Sprintf("%s %q, in the first pass %q", c.what, c.after, c.before))
			}
		}
		all = append(all, envDiffers(a.Env, b.Env)...)
	}

	return strings.Join(all, "; ")
}

// sameCommand is the command line without what distinguishes one life of it from another.
func sameCommand(s results.Server) string {
	words := make([]string, len(s.Argv))
	for i, word := range s.Argv {
		words[i] = s.Unmarked(word)
	}
	return strings.Join(words, " ")
}

func envDiffers(before, after map[string]string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(life.WithVariables(before, after))) {
		was, had := before[name]
		is, has := after[name]
		if was != is || had != has {
			all = append(all, fmt.Sprintf("variable %s %q, in the first pass %q", name, is, was))
		}
	}
	return all
}

func startupContext(s *results.Startup) *int64 { return s.ContextLen }
func startupSlots(s *results.Startup) *int64   { return s.Slots }

// startupSays is a number that a server stated at its start; "" if it did not.
func startupSays(s results.Server, of func(*results.Startup) *int64) string {
	if s.Startup == nil || of(s.Startup) == nil {
		return ""
	}
	return strconv.FormatInt(*of(s.Startup), 10)
}
