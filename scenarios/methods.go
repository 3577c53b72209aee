package scenarios

// Method says how points become figures.
type Method string

// The methods. SQZB is two passes with the same prompts, each on a server of
// its own, the second with answers of one token. LlamaBench runs llama.cpp's
// own benchmark program in place of server and client.
const (
	Serving    Method = "serving"
	SQZB       Method = "sqzb"
	LlamaBench Method = "llama-bench"
)

// Smoke is a request that must succeed on a ready server before anything is
// measured.
type Smoke struct {
	Path string         // "": no such request
	Body map[string]any // sent as JSON
}

// LlamaBenchRun says how method llama-bench runs its program, once a variant
// and repeat. The variant's args lie over Args.
type LlamaBenchRun struct {
	Binary      []string // program and leading arguments
	Models      []string // absolute paths; nil: the variant's model
	Args        []Arg    // options by name; a list is one value behind the other, which the program sweeps
	Repetitions int      // of each test
}

// TableNames are the tables that a scenario may ask for beside the usual one.
func TableNames() []string {
	return []string{"repeats", "concurrency", "sizes", "backends", "two-pass", "speculation", "llama-bench", "appendix"}
}
