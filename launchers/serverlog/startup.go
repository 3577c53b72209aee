package serverlog

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/launchers/logs"
	"github.com/benchrig/bench/results"
)

const (
	gib = 1 << 30
	// usualBlock is the number of tokens of a KV block unless the arguments
	// say otherwise.
	usualBlock = 16
)

// Facts collects what the log of a start says. Several workers of one engine
// tell the same: the slowest one's seconds count, and the smallest cache. The
// caches of several engines add up.
type Facts struct {
	facts     results.Startup
	Version   string
	kvBlocks  int64
	loadBegan float64 // seconds by the log's own clock
	slotsArg  string  // the argument for requests at once; "": none

	kvTokens    map[string]int64 // by engine, "" where the log has no name for it
	concurrency map[string]float64
}

// Clone is a copy to which more can be added.
func (l *Facts) Clone() Facts {
	c := *l
	c.facts.Arguments = maps.Clone(l.facts.Arguments)
	c.facts.Phases = slices.Clone(l.facts.Phases)
	c.kvTokens, c.concurrency = maps.Clone(l.kvTokens), maps.Clone(l.concurrency)
	return c
}

// AddArguments adds arguments that were reported later; they win.
func (l *Facts) AddArguments(arguments map[string]string) {
	l.facts.Arguments = mergeArguments(l.facts.Arguments, arguments)
}

// take looks for one milestone in a line.
func (l *Facts) take(m logs.Milestone, line string) {
	groups := m.Pattern.FindStringSubmatch(line)
	for i, fact := range m.Facts {
		if i+1 < len(groups) && groups[i+1] != "" {
			l.note(fact, groups[i+1], engineOf(line))
		}
	}
}

var enginePrefix = regexp.MustCompile(`^\((EngineCore[^)]*)\)`)

// engineOf names the engine that wrote a line, "" where there is only one.
func engineOf(line string) string {
	if m := enginePrefix.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return ""
}

// Note takes in one fact about the server; what is not a number is skipped.
func (l *Facts) Note(fact logs.Fact, text string) { l.note(fact, text, "") }

func (l *Facts) note(fact logs.Fact, text, engine string) {
	switch fact {
	case logs.FactVersion:
		l.Version = text
		return
	case logs.FactArguments:
		l.AddArguments(parsePython(text))
		return
	case logs.FactLoadBegins, logs.FactLoadEnds:
		l.noteLoad(fact, text)
		return
	default: // a number
	}

	value, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil || value < 0 || value > 1<<53 {
		return
	}

	whole := int64(value)
	switch fact {
	case logs.FactKVTokens:
		least(&l.kvTokens, engine, whole)
	case logs.FactKVBlocks:
		l.kvBlocks = whole
	case logs.FactConcurrency:
		least(&l.concurrency, engine, value)
	case logs.FactModelGiB:
		bytes := int64(min(value, 1<<30) * gib)
		if l.facts.ModelBytes == nil || *l.facts.ModelBytes < bytes {
			l.facts.ModelBytes = &bytes
		}
	case logs.FactModelBytes:
		l.facts.ModelBytes = &whole
	case logs.FactContext:
		l.facts.ContextLen = &whole
	case logs.FactSlots:
		l.facts.Slots = &whole
	default:
		l.phase(string(fact), value)
	}
}

func least[T int64 | float64](of *map[string]T, engine string, value T) {
	if *of == nil {
		*of = make(map[string]T)
	}
	if known, found := (*of)[engine]; !found || value < known {
		(*of)[engine] = value
	}
}

// sum adds up the engines; nil where none reported any.
func sum[T int64 | float64](of map[string]T) *T {
	if len(of) == 0 {
		return nil
	}
	var all T
	for _, value := range of {
		all += value
	}
	return &all
}

func (l *Facts) phase(name string, seconds float64) {
	i := slices.IndexFunc(l.facts.Phases, func(p results.StartupPhase) bool { return p.Name == name })
	if i < 0 {
		l.facts.Phases = append(l.facts.Phases, results.StartupPhase{Name: name, Seconds: seconds})
		return
	}
	l.facts.Phases[i].Seconds = max(l.facts.Phases[i].Seconds, seconds)
}

// noteLoad measures the time from the first load to the last of llama-server's
// lines by their own time stamps, minutes.seconds.milliseconds.microseconds.
func (l *Facts) noteLoad(fact logs.Fact, stamp string) {
	var seconds float64
	for i, part := range strings.SplitN(stamp, ".", 4) {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			return
		}
		seconds += float64(n) * [...]float64{60, 1, 1e-3, 1e-6}[i]
	}
	switch {
	case fact == logs.FactLoadEnds && l.loadBegan > 0 && seconds >= l.loadBegan:
		l.phase(string(logs.PhaseWeights), seconds-l.loadBegan)
	case fact == logs.FactLoadBegins && l.loadBegan == 0:
		l.loadBegan = seconds
	}
}

// Startup is what was reported, nil if nothing was.
func (l *Facts) Startup() *results.Startup {
	facts := l.facts
	facts.KVTokens, facts.MaxConcurrency = sum(l.kvTokens), sum(l.concurrency)
	if slots, err := strconv.ParseInt(facts.Arguments[l.slotsArg], 10, 32); err == nil && slots > 0 &&
		facts.Slots == nil {
		facts.Slots = new(slots * int64(max(1, len(l.kvTokens))))
	}
	if facts.KVTokens == nil && l.kvBlocks > 0 {
		block, err := strconv.ParseInt(facts.Arguments["block_size"], 10, 32)
		if err != nil || block <= 0 {
			block = usualBlock
		}
		tokens := l.kvBlocks * block
		facts.KVTokens = &tokens
	}

	nothing := len(facts.Phases) == 0 && len(facts.Arguments) == 0 &&
		facts.KVTokens == nil && facts.MaxConcurrency == nil && facts.ModelBytes == nil && facts.ContextLen == nil &&
		facts.Slots == nil
	if nothing {
		return nil
	}

	facts.Phases = slices.Clone(facts.Phases)
	if facts.Phases == nil {
		facts.Phases = []results.StartupPhase{}
	}

	return &facts
}
