package step

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
)

// room is what a server takes, as it says itself.
type room struct {
	context int // tokens of a prompt and its answer; 0: not known
	slots   int // requests at once; 0: not known, or no limit
	total   int // context of all slots, where the server's arguments say it; 0: not known
	kind    engines.Kind
}

// roomOf is the smallest room of a step's servers.
func roomOf(servers []Server) room {
	var least room
	for i, s := range servers {
		one := roomOfOne(s.Info())
		if i == 0 || one.context > 0 && one.context < least.context {
			one.slots = cmp.Or(min(one.slots, least.slots), one.slots, least.slots)
			least = one
		}
	}
	return least
}

func roomOfOne(info results.Server) room {
	kind, _ := engines.Lookup(info.Launcher)
	r := room{kind: kind, total: argument(info.Argv, "--ctx-size", "-c")}
	if startup := info.Startup; startup != nil {
		if startup.ContextLen != nil {
			r.context = int(*startup.ContextLen)
		}
		if startup.Slots != nil {
			r.slots = int(*startup.Slots)
		}
	}
	if name := kind.Args.Slots; r.slots == 0 && name != "" { // the log did not say it
		r.slots = argument(info.Argv, "--"+name, "--"+strings.ReplaceAll(name, "_", "-"))
	}
	// each engine of a data-parallel server has as many
	r.slots *= max(1, argument(info.Argv, "--data-parallel-size", "-dp", "--dp-size", "--dp"))
	if !r.kind.Args.SlotsSplit || r.slots < 2 {
		r.total = 0
	}
	return r
}

// argument is the whole number behind one of the names; 0: there is none.
func argument(argv []string, names ...string) int {
	for i, word := range argv[:max(len(argv)-1, 0)] {
		if n, err := strconv.Atoi(argv[i+1]); err == nil && n > 0 && slices.Contains(names, word) {
			return n
		}
	}
	return 0
}

// atOnce is how many of the requests are sent without waiting for an answer; 0
// where the times at which they are sent decide.
func atOnce(s Schedule, concurrency int, set *dataset.Set) int {
	switch n := len(set.Prompts); {
	case s.spreads(set):
		return 0
	case concurrency == 0:
		return n
	case s.Duration == 0:
		return min(concurrency, n)
	}
	return concurrency
}

// preflight says which prompts do not fit the servers, before one is sent. It
// refuses only where none fits. atOnce is of all servers together, 0 where it is
// not known.
func preflight(servers []Server, prompts []load.Prompt, atOnce int, result *results.Result) error {
	r := roomOf(servers)
	needs := neededTokens(prompts)
	tooLong, longest, shortest := 0, 0, 0
	for i, n := range needs {
		if n > r.context {
			tooLong++
		}
		longest = max(longest, n)
		if i == 0 || n < shortest {
			shortest = n
		}
	}

	each := (atOnce + len(servers) - 1) / len(servers)
	switch {
	case r.context == 0 || len(needs) == 0:
	case tooLong == len(prompts):
		return results.Failf(results.FailContext,
			"none of %s fits: the shortest needs %s with its answer, but there are %s; %s",
			text.Count(len(prompts), "prompt"), text.Count(shortest, "token"), r.place(), r.advice(shortest))
	case tooLong > 0:
		result.Warnf(results.WarnContext, "%d of %s need more than %s; %s", tooLong, text.Count(len(prompts), "prompt"),
			r.place(), r.advice(longest))
	default:
		r.checkShared(needs, cmp.Or(each, r.slots), result)
	}
	if r.slots > 0 && each > r.slots {
		warnSlots(result, "%d requests at once are sent to a server that processes %d", each, r.slots)
	}

	return nil
}

// checkSlots warns after a pass whose requests came in at their own times and
// were more than the servers work on. Before it, this could not be known.
func checkSlots(servers []Server, peak int, result *results.Result) {
	known := func(w results.Warning) bool { return w.Code == results.WarnFewSlots }
	slots := roomOf(servers).slots
	if slots == 0 || peak <= slots*len(servers) || slices.ContainsFunc(result.Warnings, known) {
		return
	}
	if len(servers) == 1 {
		warnSlots(result, "up to %d requests were in flight at once at a server that processes %d", peak, slots)
		return
	}
	warnSlots(result, "up to %d requests were in flight at once at servers that process %d each", peak, slots)
}

func warnSlots(result *results.Result, format string, values ...any) {
	result.Warnf(results.WarnFewSlots, format+
		": the others wait in its queue, and their time to first token includes that wait", values...)
}

// neededTokens are those of each prompt with the answer asked for, at least
// one; nil where the length of one is not known.
func neededTokens(prompts []load.Prompt) []int {
	var needs []int
	for _, p := range prompts {
		input := cmp.Or(p.InputTokens, len(p.TokenIDs))
		if input == 0 {
			return nil
		}
		needs = append(needs, input+max(p.OutputTokens, 1))
	}
	return needs
}

// split reports whether slots have a context of their own, as far as is known.
func (r room) split() bool { return r.total == 0 || r.context < r.total }

// place names the room: "the 256 tokens of a slot (4096 over 16 slots)".
func (r room) place() string {
	switch {
	case !r.kind.Args.SlotsSplit || r.slots < 2:
		return fmt.Sprintf("the %d tokens that the server takes for a request", r.context)
	case !r.split():
		return fmt.Sprintf("the %d tokens that all %d slots share", r.context, r.slots)
	case r.total > 0:
		return fmt.Sprintf("the %d tokens of a slot (%d over %d slots)", r.context, r.total, r.slots)
	}
	return fmt.Sprintf("the %d tokens of a slot", r.context)
}

// advice says what to raise so that need tokens fit a request.
func (r room) advice(need int) string {
	name := r.kind.Args.Length
	if r.kind.Args.SlotsSplit && r.slots > 1 && r.split() {
		need *= r.slots
	}
	if name == "" {
		return fmt.Sprintf("start it with room for %d", need)
	}
	return fmt.Sprintf("raise %s to at least %d", name, need)
}

// checkShared looks at a context that all slots share: what fits it alone may
// not fit it together.
func (r room) checkShared(needs []int, atOnce int, result *results.Result) {
	if r.total == 0 || r.split() {
		return
	}
	sorted := slices.Sorted(slices.Values(needs))
	together := 0
	for _, n := range sorted[max(0, len(sorted)-min(atOnce, r.slots)):] {
		together += n
	}
	if together > r.context {
		result.Warnf(results.WarnContext, "%d requests at once may need %d tokens, and share %d: where they run out, "+
			"requests fail; raise ctx-size to at least %d", min(atOnce, r.slots), together, r.context, together)
	}
}

// fitWarmups keeps the warm-ups within the context of a server: an answer is
// shortened where its prompt fits, and a prompt that does not is replaced by
// another one that does. A length that is not known is taken to fit.
func fitWarmups(warmups []load.Prompt, context int) []load.Prompt {
	fits := func(p load.Prompt) bool {
		return context == 0 || cmp.Or(p.InputTokens, len(p.TokenIDs)) < context
	}
	at := slices.IndexFunc(warmups, fits)
	if at < 0 {
		return warmups // preflight says that nothing fits
	}

	out := slices.Clone(warmups)
	for i, p := range out {
		if !fits(p) {
			p = warmups[at]
		}
		input := cmp.Or(p.InputTokens, len(p.TokenIDs))
		if context > 0 && input > 0 && len(p.Turns) == 0 {
			p.OutputTokens = min(p.OutputTokens, context-input)
		}
		out[i] = p
	}
	return out
}
