package engines

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/benchrig/bench/launchers/recipe"
)

// All lists every kind of server, in the order in which help shows them.
func All() []Kind { return slices.Clone(all()) }

// list is the list of kinds. A new kind is a line here.
func list() []Kind {
	return []Kind{
		VllmKind(),
		llamacppKind(),
		SglangKind(),
		tgiKind(),
		trtllmKind(),
		ollamaKind(),
		commandKind(),
		externalKind(),
		simulatorKind(),
	}
}

var (
	madeKinds sync.Once
	kinds     []Kind
)

// all makes the kinds once: their patterns take longer to compile than a step
// of a small scenario to set up. Nobody changes them.
func all() []Kind {
	madeKinds.Do(func() { kinds = list() })
	return kinds
}

// Names lists the names of All.
func Names() []string {
	var names []string
	for _, kind := range all() {
		names = append(names, kind.Name)
	}
	return names
}

var simulatedLlama = sync.OnceValue(simulatedLlamaKind)

// Lookup finds a kind by the name that scenarios use, or that a simulated one
// has in its place.
func Lookup(name string) (Kind, bool) {
	for _, kind := range all() {
		if kind.Name == name {
			return kind, true
		}
	}
	if kind := simulatedLlama(); kind.Name == name {
		return kind, true
	}
	return Kind{}, false
}

// ByBackend is the kind that --backend of vLLM's client means, by its name or
// one that only it has; any other backend speaks as vLLM does.
func ByBackend(backend string) Kind {
	for _, kind := range all() {
		if !kind.External && (kind.Name == backend || slices.Contains(kind.Backends, backend)) {
			return kind
		}
	}
	return all()[0]
}

// Programs are the names by which servers are started: programs and Python
// packages.
func Programs() []string {
	var names []string
	for _, kind := range all() {
		for _, name := range []string{kind.Program.Name, kind.Program.Package} {
			if name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// OfCommand is the kind of server that a command line starts, by the name of
// its program or Python package; false: none is named.
func OfCommand(argv []string) (Kind, bool) {
	line := strings.Join(argv, " ")
	for _, kind := range all() {
		for _, sign := range []string{kind.Program.Name, kind.Program.Package} {
			if sign != "" && strings.Contains(line, sign) {
				return kind, true
			}
		}
	}
	return Kind{}, false
}

// Dialects are those of servers that the launcher command starts.
func Dialects() []string {
	names := []string{OpenAI}
	for _, kind := range all() {
		if kind.Dialect != "" {
			names = append(names, kind.Dialect)
		}
	}
	return names
}

// ByDialect is the kind whose dialect that is.
func ByDialect(dialect string) (Kind, bool) {
	at := slices.IndexFunc(all(), func(k Kind) bool { return k.Dialect != "" && k.Dialect == dialect })
	if at < 0 {
		return Kind{}, false
	}
	return all()[at], true
}

// OpenAI is the dialect that most kinds of servers share.
const OpenAI = "openai"

// started completes a kind that bench starts: its commands get a recipe with
// address and program, which has a model where the kind needs one.
func (k Kind) started() Kind {
	command, companions := k.Command, k.Companions
	k.Command = func(s recipe.Spec) (recipe.Command, error) {
		if k.NeedsModel && k.Args.Model == nil {
			if err := needModel(s); err != nil {
				return recipe.Command{}, err
			}
		}
		return command(k.filled(s))
	}
	if companions != nil {
		k.Companions = func(s recipe.Spec) ([]recipe.Companion, error) { return companions(k.filled(s)) }
	}

	return k
}

// AnyEngine reports whether a server of the kind may be of any engine, so that
// the recipe says which API it has and which model requests ask for.
func (k Kind) AnyEngine() bool { return k.External || k.WholeArgv }

// filled is the recipe with what the kind has by default.
func (k Kind) filled(s recipe.Spec) recipe.Spec {
	s.Host, s.Port = cmp.Or(s.Host, "127.0.0.1"), cmp.Or(s.Port, k.DefaultPort)
	if s.Binary = slices.Clone(s.Binary); len(s.Binary) == 0 {
		s.Binary = slices.Clone(k.Run)
	}
	return s
}

// Drafts reports whether a recipe makes its engine decode speculatively, and how
// many tokens it drafts at once; 0: that is not said. known is false where the
// recipe cannot tell: the server runs already, or is of an unknown kind.
func Drafts(kind Kind, args []recipe.Arg) (drafts bool, tokens int, known bool) {
	if kind.Args.Drafts == nil {
		return false, 0, false
	}
	drafts, tokens = kind.Args.Drafts(args)
	if !drafts {
		tokens = 0
	}
	return drafts, tokens, true
}

// DroppedEnv names the variables of environ that a server of the spec does not
// inherit, because they would silently change it or its recipe removes them.
// Those that the recipe sets are not a loss and not among them.
func DroppedEnv(environ []string, spec recipe.Spec) []string {
	kind, ok := Lookup(spec.Launcher)
	if !ok || kind.External || spec.Container.Contained() { // a container inherits nothing
		return nil
	}
	command, err := kind.Command(spec)
	if err != nil {
		return nil // no server comes of it
	}
	return recipe.Dropped(environ, spec, command)
}
