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

// all makes the kinds once: their patterns take longer to compile than a step
// of a small scenario to set up. Nobody changes them.
var all = sync.OnceValue(func() []Kind {
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
})

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

// listenAddress is where the server shall listen.
func listenAddress(s recipe.Spec, defaultPort int) (host, port string) {
	return cmp.Or(s.Host, "127.0.0.1"), strconv.Itoa(cmp.Or(s.Port, defaultPort))
}

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
