package scenarios

import (
	"strings"

	"github.com/benchrig/bench/launchers/engines"
)

// Method says how points become figures.
type Method string

// The methods. SQZB is two passes with the same prompts, each on a server of
// its own, the second with answers of one token. ColdStart starts a server, with
// caches in states that are asked for, and stops it. Each further method runs one
// of engines.MeasuringPrograms in place of server and client.
const (
	Serving   Method = "serving"
	SQZB      Method = "sqzb"
	ColdStart Method = "cold-start"
)

// Methods lists the methods in the order in which help shows them.
func Methods() []Method {
	methods := []Method{Serving, SQZB, ColdStart}
	for _, program := range engines.MeasuringPrograms() {
		methods = append(methods, Method(program.Name))
	}
	return methods
}

// SendsRequests reports whether the method's figures are those of requests of the
// load client.
func (m Method) SendsRequests() bool { return m == Serving || m == SQZB || m == "" }

// The states of a cache before a start.
const (
	StartCold = "cold"
	StartWarm = "warm"
	StartAny  = "any" // whatever it holds
)

// StartCaches are the states of the caches in which a server is started, each
// "cold", "warm" or "any".
type StartCaches struct{ Page, Compile, Hub string }

// ColdStartRun says in which states of the caches method cold-start starts
// servers: in all combinations. Of a cache without a state nothing is changed.
type ColdStartRun struct{ Page, Compile, Hub []string }

// Points are the combinations, in which the first cache changes slowest.
func (c ColdStartRun) Points() []Load {
	if c.Page == nil && c.Compile == nil && c.Hub == nil {
		c.Page = []string{StartCold}
	}

	points := []Load{{Caches: StartCaches{StartAny, StartAny, StartAny}}}
	for _, cache := range []struct {
		name   string
		states []string
		set    func(*StartCaches, string)
	}{
		{"page", c.Page, func(s *StartCaches, state string) { s.Page = state }},
		{"compile", c.Compile, func(s *StartCaches, state string) { s.Compile = state }},
		{"hub", c.Hub, func(s *StartCaches, state string) { s.Hub = state }},
	} {
		if cache.states == nil {
			continue
		}
		var next []Load
		for _, point := range points {
			for _, state := range cache.states {
				cache.set(&point.Caches, state)
				next = append(next, point)
				label := cache.name + "-" + state
				next[len(next)-1].Label = strings.TrimPrefix(point.Label+"+"+label, "+")
			}
		}
		points = next
	}
	return points
}

// Smoke is a request that must succeed on a ready server before anything is
// measured.
type Smoke struct {
	Path string         // "": no such request
	Body map[string]any // sent as JSON
}

// ProgramRun says how a method runs its program (engines.MeasuringPrograms), once
// a variant and repeat. The variant's args take precedence over Args.
type ProgramRun struct {
	Binary      []string // program and leading arguments; nil: the variant's, or the program's own
	Models      []string // absolute paths; nil: the variant's model
	Args        []Arg    // options by name; a list is one value behind the other, which the program sweeps
	Repetitions int      // of each test; 0: the program has no such option
}

// RunsProgram reports whether the method runs a program in place of server and
// client.
func (s *Scenario) RunsProgram() bool {
	_, ok := engines.MeasuringProgram(string(s.Method))
	return ok
}

// TableNames are the tables that a scenario may ask for beside the usual one.
func TableNames() []string {
	return []string{
		"repeats", "concurrency", "sizes", "backends", "two-pass", "speculation", "llama-bench", "measures",
		"appendix",
	}
}
