package engines

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
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

// hasNone says for a kind's WeightsOnGPU that none of these arguments is given.
func hasNone(spelling func() recipe.Spelling, names ...string) func([]recipe.Arg) bool {
	return func(args []recipe.Arg) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return spelling().Has(args, name) })
	}
}

// namedFile is a kind's File for arguments of these canonical names, NAME.PART for
// a part of an object.
func namedFile(spelling func() recipe.Spelling, names ...string) func(string, any) string {
	return func(given string, value any) string {
		for _, name := range names {
			whole, part, dotted := strings.Cut(name, ".")
			object, isObject := value.(map[string]any)
			switch key := spelling().Key(given); {
			case key == name && !isObject:
				path, _ := value.(string)
				return path
			case key == whole && dotted && isObject:
				path, _ := object[part].(string)
				return path
			}
		}
		return ""
	}
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
		if k.NeedsModel && k.ModelArgs == nil {
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

// address is where the server shall listen.
func address(s recipe.Spec) (host, port string) { return s.Host, strconv.Itoa(s.Port) }

// needModel refuses a recipe without a model, or with one that an engine would
// read as an option.
func needModel(s recipe.Spec) error {
	switch {
	case s.Model == "":
		return fmt.Errorf("model: missing: say which model %s shall load", s.Launcher)
	case strings.HasPrefix(s.Model, "-"):
		return fmt.Errorf("model: %q begins with a dash, as options do: write a path as ./%s", s.Model, s.Model)
	case strings.ContainsRune(s.Model+s.ServedName, 0):
		return fmt.Errorf("model: %q holds a NUL byte", s.Model)
	}
	return nil
}

// servedOrModel is the name in requests where an engine serves a model under
// its own name unless told otherwise.
func servedOrModel(s recipe.Spec) string { return cmp.Or(s.ServedName, s.Model) }

// unknownSize is the WorldSize of kinds that use whatever GPUs they see, or
// none.
func unknownSize([]recipe.Arg) int { return 0 }

// maxParallel is more than any parallelism option will ever say.
const maxParallel = 4096

// sizes multiplies the options of those canonical names, 1 where one is not
// given; 0 if one cannot be read.
func sizes(s recipe.Spelling, args []recipe.Arg, names ...string) int {
	product := 1
	for _, name := range names {
		value, ok := s.Find(args, name)
		if !ok || value == nil {
			continue
		}
		size, ok := positive(value)
		if !ok || size > maxParallel {
			return 0
		}
		product *= size
	}
	return product
}

func positive(value any) (int, bool) {
	var text string
	switch v := value.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = v
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n > 0
}
