package logs

import "regexp"

// Milestone is a line of a server's log that says something about its start.
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

// NewMilestone makes one of a regular expression.
func NewMilestone(pattern string, facts ...Fact) Milestone {
	return Milestone{Pattern: regexp.MustCompile(pattern), Facts: facts}
}
