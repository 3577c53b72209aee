// Package engines describes the kinds of inference servers: how a recipe
// becomes a command line, which paths and metrics such a server has, what the
// lines of its log mean, and which arguments do not go together.
//
// What goes in: a recipe.Spec. What comes out: a recipe.Command, or an error
// that says what to change. A kind is one file, with one line in All. The
// package starts nothing, connects to nothing and opens no file.
package engines

import (
	"regexp"
	"time"

	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/logs"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/launchers/scrape"
)

// Kind describes one kind of server. Kinds are values in a list, not types in
// a registry: a new kind is one file and one line in All.
type Kind struct {
	Name        string
	Title       string // as its makers spell it
	Program     Program
	DefaultPort int
	StopGrace   time.Duration
	OrphanGrace time.Duration // from SIGTERM to SIGKILL for processes that outlive the program; 0: 5 s
	External    bool          // already running: never started, stopped or reset
	WholeArgv   bool          // the recipe's command is the whole argv, of whatever program
	Simulated   bool
	QuickStart  bool // a start takes seconds, not minutes

	// Run is the beginning of its command where a recipe names no binary.
	Run []string

	// Backends are names that --backend has for it beside its own. Dialect is
	// the api of a server of launcher command that behaves as it does; "": openai.
	Backends []string
	Dialect  string

	// Command turns a recipe into argv and environment. It is pure; its errors
	// tell what to change in the recipe.
	Command func(recipe.Spec) (recipe.Command, error)

	// Companions is what runs beside Command's program where the server lies
	// over several nodes; nil: it cannot. It is pure.
	Companions func(recipe.Spec) ([]recipe.Companion, error)

	// Private gives each start for itself what engines would share with other
	// servers of the machine, by settings that are not part of the recipe; nil:
	// nothing. Settings of the recipe win.
	Private func(Private, recipe.Spec) Settings

	// NeedsModel: a recipe without a model is refused, unless an argument of
	// Args.Model names one. LocalModel: the model may be a path of this machine.
	NeedsModel bool
	LocalModel bool

	Args     Args
	Image    Image
	Caches   Caches
	API      API
	Log      logs.Lines
	Sim      Sim
	Template string // starter scenario, YAML

	MetricsPath    string // Prometheus text; "" if there is none
	scrape.Metrics        // what its metrics page shows
}

// Args says what the arguments of an engine's command line mean.
type Args struct {
	// WorldSize says how many GPUs one server of this recipe uses by its
	// parallelism arguments; 0 if it cannot tell.
	WorldSize func([]recipe.Arg) int

	// MemoryShare is the part of a GPU's memory that a server of this recipe
	// wants to itself, and does not start without; 0 if it takes what there is;
	// nil: so for every recipe.
	MemoryShare func([]recipe.Arg) float64

	// WeightsOnGPU says whether a server of this recipe loads the files of its model
	// into its GPUs as they are, in equal parts; nil: it is not known.
	WeightsOnGPU func([]recipe.Arg) bool

	// Drafts says whether the arguments make the engine decode speculatively,
	// and how many tokens it drafts at once, 0 if they do not say; nil: the
	// arguments cannot tell.
	Drafts func([]recipe.Arg) (drafts bool, tokens int)

	// Retired are settings that the engine had once. Conflicts finds further
	// ones that do not go together; nil: none are known.
	Retired   []Retirement
	Conflicts func(recipe.Spec, Version) []Conflict

	// File is the value of an argument that may name a file or a folder which the
	// server reads when it starts, "" for other arguments; nil: none are known.
	File func(name string, value any) string

	Model      []string // arguments that name the model; nil: none does
	Length     string   // the argument for the longest request, in tokens; "": none
	Slots      string   // the argument for requests at once, as the engine's log names it; "": none
	SlotsSplit bool     // that argument is the context of all slots together, which it may split over them

	// Spellings are other names of its flags: what differs in the spelling alone
	// does not differ.
	Spellings map[string]string
	// ShortNumbers are flags whose values may be written as text.WholeNumber reads them.
	ShortNumbers []string
}

// Image is what is known of an engine's container images.
type Image struct {
	Name, AMD string // of its makers, for starter scenarios; "": none

	// Entry is a Binary for Command that stands for an image's entry point: as
	// many words are cut off the argv again. Nil: argv has no program of the
	// kind's own. Program are those of images whose entry point is not the server.
	Entry   []string
	Program []string
	Caches  []container.Cache // what the engine keeps between starts, where its image looks for it
}

// Caches are variables that name folders in which an engine keeps files between
// starts; nil: none are known.
type Caches struct {
	Compile []string // of code that it, or what it is built on, has compiled
	Hub     []string // of downloaded models
}

// API is what a server of this kind can be asked, and how it answers.
type API struct {
	// ServedName is the model name in requests and in the model list.
	ServedName func(recipe.Spec) string
	// Body are fields that every request carries, such as cache_prompt: false.
	Body      map[string]any
	LoadsLate bool // the model loads with the first request: an error then is about the model
	CacheSalt bool // requests take a cache_salt, whose value keeps prefix caches apart

	HealthPath  string // "" if there is none
	VersionPath string // "" if there is none

	ModelsPath  string // OpenAI model list; "" if there is none
	ModelsMaybe bool   // a missing model list (404) says nothing against the server
	ModelFile   string // path that tells model_path, the file that is loaded; "": none
	// Owners are beginnings of owned_by in its model list, in lower case, by which it
	// is recognised. ListsState: its list alone has "meta" or "status" of a model,
	// which tells it from others, too.
	Owners     []string
	ListsState bool

	TokenizePath string          // "" if there is none
	Tokenize     TokenizeDialect // how TokenizePath is asked; "": as vLLM
	MayTokenize  bool            // there may be a tokenize endpoint: it is looked for once the server serves

	Describe []Description // asked once it serves
	Reset    *Reset        // how it forgets its prefix cache; nil: only by a restart
}

// Sim says how the simulator stands in for an engine.
type Sim struct {
	Kind string            // the simulated kind; "": the simulator
	Args map[string]string // arguments that the simulator acts on, with their names there; "": the same
}

// Reset says how an engine forgets its prefix cache.
type Reset struct {
	Path  string // POST; "" where each slot is erased by itself
	Needs string // what a server must be started with to have it, for messages

	// Done and Refused are lines of its log. Some engines answer 200 whether or
	// not they did it: with MustSay only the log counts.
	Done, Refused *regexp.Regexp
	MustSay       bool
}

// Description is a path under which a server describes itself in JSON. A
// server may lack it.
type Description struct {
	Path string

	// Facts are values by their place in the answer, "a.b"; a number is an
	// index. Names without a fact become arguments where Arguments says so.
	Facts     map[string]logs.Fact
	Arguments string // place of an object whose scalars are the arguments in force; ".": the answer; "": none
}

// Program is an engine's program on this machine, for those who look for it.
type Program struct {
	Name        string   // "": there is none of its own
	VersionArgs []string // make it print its version
	Package     string   // Python package of the same version, where printing it takes long; "": none
}

// TokenizeDialect is the form in which a server wants to be asked for tokens.
type TokenizeDialect string

// The dialects.
const (
	TokenizeVLLM  TokenizeDialect = "vllm"
	TokenizeLlama TokenizeDialect = "llamacpp"
	TokenizeTGI   TokenizeDialect = "tgi"
)

// Private is what one start of a server has for itself.
type Private struct {
	// for sockets, with a short name; it goes with the server. "": it has files of its own, in a container
	Folder string
	Port   int // the first of PrivatePorts that are free on this machine
}

// PrivatePorts is how many ports from Private.Port on are free.
const PrivatePorts = 10

// Settings are variables, and arguments that follow those of the recipe.
type Settings struct {
	Env  map[string]string
	Args []string
}
