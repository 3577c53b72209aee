package launchers

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/results"
)

// Milestone is a line of a server's log that tells something of its start.
// Facts says what the pattern's groups are, one each; a group that did not
// take part is skipped.
type Milestone struct {
	Pattern *regexp.Regexp
	Facts   []Fact
}

// Fact is what a group of a milestone, or a value of a server's description,
// tells. Those of seconds are names of results.StartupPhase.
type Fact string

// The facts.
const (
	PhaseWeights Fact = "weights"
	PhaseCompile Fact = "compile"
	PhaseGraphs  Fact = "graph-capture"
	PhaseInit    Fact = "init"

	FactKVTokens    Fact = "kv-tokens"
	FactKVBlocks    Fact = "kv-blocks" // of the engine's block size
	FactConcurrency Fact = "max-concurrency"
	FactModelGiB    Fact = "model-gib"
	FactModelBytes  Fact = "model-bytes"
	FactContext     Fact = "context-len"
	FactSlots       Fact = "slots"
	FactVersion     Fact = "version"
	FactArguments   Fact = "arguments"  // as Python prints them
	FactLoadBegins  Fact = "load-begin" // llama.cpp's time stamp
	FactLoadEnds    Fact = "load-end"
)

// milestone makes one of a regular expression.
func milestone(pattern string, facts ...Fact) Milestone {
	return Milestone{Pattern: regexp.MustCompile(pattern), Facts: facts}
}

const (
	gib = 1 << 30
	// usualBlock is the number of tokens of a KV block unless the arguments
	// say otherwise.
	usualBlock = 16
)

// startupLog collects what the log of a start tells. Several workers of one
// server tell the same: the slowest one's seconds count, and the smallest
// cache.
type startupLog struct {
	told      results.Startup
	version   string
	kvBlocks  int64
	loadBegan float64 // seconds by the log's own clock
}

// take looks for one milestone in a line.
func (l *startupLog) take(m Milestone, line string) {
	groups := m.Pattern.FindStringSubmatch(line)
	for i, fact := range m.Facts {
		if i+1 < len(groups) && groups[i+1] != "" {
			l.note(fact, groups[i+1])
		}
	}
}

// note takes in one fact; what is no number is skipped.
func (l *startupLog) note(fact Fact, text string) {
	switch fact {
	case FactVersion:
		l.version = text
		return
	case FactArguments:
		l.told.Arguments = mergeArguments(l.told.Arguments, parsePython(text))
		return
	case FactLoadBegins, FactLoadEnds:
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
	case FactKVTokens:
		least(&l.told.KVTokens, whole)
	case FactKVBlocks:
		l.kvBlocks = whole
	case FactConcurrency:
		least(&l.told.MaxConcurrency, value)
	case FactModelGiB:
		bytes := int64(min(value, 1<<30) * gib)
		if l.told.ModelBytes == nil || *l.told.ModelBytes < bytes {
			l.told.ModelBytes = &bytes
		}
	case FactModelBytes:
		l.told.ModelBytes = &whole
	case FactContext:
		l.told.ContextLen = &whole
	case FactSlots:
		l.told.Slots = &whole
	default:
		l.phase(string(fact), value)
	}
}

func least[T int64 | float64](at **T, value T) {
	if *at == nil || value < **at {
		*at = &value
	}
}

func (l *startupLog) phase(name string, seconds float64) {
	i := slices.IndexFunc(l.told.Phases, func(p results.StartupPhase) bool { return p.Name == name })
	if i < 0 {
		l.told.Phases = append(l.told.Phases, results.StartupPhase{Name: name, Seconds: seconds})
		return
	}
	l.told.Phases[i].Seconds = max(l.told.Phases[i].Seconds, seconds)
}

// noteLoad measures the time from the first load to the last of llama-server's
// lines by their own time stamps, minutes.seconds.milliseconds.microseconds.
func (l *startupLog) noteLoad(fact Fact, stamp string) {
	var seconds float64
	for i, part := range strings.SplitN(stamp, ".", 4) {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			return
		}
		seconds += float64(n) * [...]float64{60, 1, 1e-3, 1e-6}[i]
	}
	switch {
	case fact == FactLoadEnds && l.loadBegan > 0 && seconds >= l.loadBegan:
		l.phase(string(PhaseWeights), seconds-l.loadBegan)
	case fact == FactLoadBegins && l.loadBegan == 0:
		l.loadBegan = seconds
	}
}

// startup is what was told, nil if nothing was.
func (l *startupLog) startup() *results.Startup {
	told := l.told
	if told.KVTokens == nil && l.kvBlocks > 0 {
		block, err := strconv.ParseInt(told.Arguments["block_size"], 10, 32)
		if err != nil || block <= 0 {
			block = usualBlock
		}
		tokens := l.kvBlocks * block
		told.KVTokens = &tokens
	}
	nothing := len(told.Phases) == 0 && len(told.Arguments) == 0 &&
		told.KVTokens == nil && told.MaxConcurrency == nil && told.ModelBytes == nil && told.ContextLen == nil && told.Slots == nil
	if nothing {
		return nil
	}
	told.Phases = slices.Clone(told.Phases)
	if told.Phases == nil {
		told.Phases = []results.StartupPhase{}
	}
	return &told
}

func vllmMilestones() []Milestone {
	return []Milestone{
		milestone(`vLLM API server version (\S+)`, FactVersion),
		milestone(`Initializing an? (?:V1 )?LLM engine \(v([^)\s]+)\) with config: (.*)`, FactVersion, FactArguments),
		milestone(`\bargs: (Namespace\(.*\)|\{.*\})`, FactArguments), // V0, and "non-default args" since
		milestone(`Loading (?:model )?weights took ([\d.]+) seconds`, PhaseWeights),
		milestone(`(?:Loading model weights|Model loading) took ([\d.]+) Gi?B`, FactModelGiB),
		milestone(`torch\.compile (?:takes|took) ([\d.]+) s in total`, PhaseCompile),
		milestone(`GPU KV cache size: ([\d,]+) tokens`, FactKVTokens),
		milestone(`# (?:GPU|cuda|rocm) blocks: (\d+)`, FactKVBlocks),
		milestone(`Maximum concurrency for ([\d,]+) tokens per request: ([\d.]+)x`, FactContext, FactConcurrency),
		milestone(`Graph capturing finished in ([\d.]+) sec`, PhaseGraphs),
		milestone(`init engine \(profile, create kv cache, warmup model\) took ([\d.]+) s`, PhaseInit),
	}
}

func sglangMilestones() []Milestone {
	return []Milestone{
		milestone(`server_args=ServerArgs\((.*)\)`, FactArguments),
		milestone(`Load weight end\. elapsed=([\d.]+) s`, PhaseWeights),
		milestone(`Load weight end\..*mem usage=([\d.]+) GB`, FactModelGiB),
		milestone(`KV Cache is allocated\. .*#tokens: (\d+)`, FactKVTokens),
		milestone(`Capture (?:cuda|hip) graph end\. Time elapsed: ([\d.]+) s`, PhaseGraphs),
		milestone(`max_total_num_tokens=(\d+)`, FactKVTokens),
		milestone(`max_running_requests=(\d+)`, FactSlots),
		milestone(`context_len=(\d+)`, FactContext),
	}
}

func tgiMilestones() []Milestone {
	return []Milestone{
		milestone(`Shard ready in ([\d.]+)s`, PhaseWeights),
		milestone(`Setting max batch total tokens to (\d+)`, FactKVTokens),
	}
}

func llamaMilestones() []Milestone {
	return []Milestone{
		milestone(`^(\d+\.\d\d\.\d{3}\.\d{3}) .*load_model: loading model`, FactLoadBegins),
		milestone(`^(\d+\.\d\d\.\d{3}\.\d{3}) .*: model loaded$`, FactLoadEnds),
		milestone(`n_slots = (\d+), n_ctx_slot = (\d+)`, FactSlots, FactContext),
		milestone(`^build(?:_info)?: (\S+)`, FactVersion),
	}
}

func ollamaMilestones() []Milestone {
	return []Milestone{
		milestone(`llama runner started in ([\d.]+) seconds`, PhaseWeights),
		milestone(`KvSize:(\d+)`, FactKVTokens),
	}
}
