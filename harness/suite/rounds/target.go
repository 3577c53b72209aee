package rounds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchrig/bench/harness/direct"
	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/harness/suite"
	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/launchers"
	"github.com/benchrig/bench/launchers/endpoint"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results/vllm"
)

// Target is the server of a suite and what is known about it.
type Target struct {
	endpoint.Discovery

	process     machine.Process
	options     Options
	server      *launchers.Server
	headers     map[string]string
	body        map[string]any
	counter     step.TokenCounter
	maxModelLen int    // 0: not known
	lenFrom     string // where it was found
	params      []byte // text of engine_params.txt
	paramsFrom  string
	here        bool // it runs on this machine, as far as is known
}

// Find asks the server, and looks at its process if it is on this machine.
func Find(ctx context.Context, p machine.Process, o Options) (*Target, error) {
	key, given := p.Lookup(o.APIKeyEnv)
	if !given && o.APIKeyEnv != "OPENAI_API_KEY" {
		return nil, usage.Errorf("--api-key-env %s: this variable is not set", o.APIKeyEnv)
	}

	spec := recipe.Spec{Launcher: "external", BaseURL: o.BaseURL, APIKey: key, Life: "running"}
	t := &Target{process: p, options: o, headers: map[string]string{}}
	if key != "" {
		spec.Secrets = []string{key}
		t.headers["Authorization"] = "Bearer " + key
	}

	var err error
	if t.Discovery, err = endpoint.Discover(ctx, spec, o.Model); err != nil {
		return nil, fmt.Errorf("ask the server for its model: %w", direct.NameKey(err, o.APIKeyEnv))
	}
	if !slices.Contains(t.Models, t.Model) {
		fmt.Fprintf(p.Stderr, "note: the server lists %s, not %s\n", strings.Join(t.Models, ", "), t.Model)
	}

	kind := direct.KindOf(t.Kind)
	spec.Model, t.body = t.Model, maps.Clone(kind.API.Body)
	t.server = launchers.Attach(kind, spec)
	if _, err := t.server.Models(ctx); err != nil { // for its vocabulary
		return nil, fmt.Errorf("ask the server for its model: %w", err)
	}

	t.look(ctx, o.BaseURL)
	t.counter, err = step.Counter(ctx, t.tokenizer(o.Tokenizer), t.server)
	if err != nil {
		return nil, usage.Mark(err)
	}

	return t, nil
}

// look takes the command line of the process that listens there, if it is to
// be seen.
func (t *Target) look(ctx context.Context, baseURL string) {
	owner, err := launchers.OwnerOf(ctx, baseURL)
	t.here = !errors.Is(err, launchers.ErrElsewhere)
	lines := suite.Params(owner.Argv)
	t.maxModelLen, t.lenFrom = t.MaxModelLen, t.LenFrom
	switch {
	case err != nil:
		lines = suite.ServerParams(t.Arguments, t.ArgsFrom)
		t.paramsFrom = t.ArgsFrom
	case isForwarder(owner.Argv[0]):
		err = fmt.Errorf("%s listens there and passes requests on, to a server that cannot be seen",
			filepath.Base(owner.Argv[0]))
		lines = suite.ServerParams(t.Arguments, t.ArgsFrom)
		t.paramsFrom = t.ArgsFrom
	default:
		t.paramsFrom = fmt.Sprintf("the command line of process %d", owner.PID)
		if n := suite.MaxModelLenOf(owner.Argv); t.maxModelLen == 0 && n > 0 {
			t.maxModelLen, t.lenFrom = n, t.paramsFrom
		}
		if len(lines) == 0 {
			err = fmt.Errorf("process %d (%s) was started without flags", owner.PID, filepath.Base(owner.Argv[0]))
		}
	}

	why := ""
	if err != nil {
		why = err.Error()
	}

	t.params = suite.EngineParams(lines, cmp.Or(why, "not stated"))
	if len(lines) == 0 {
		t.paramsFrom = ""
	}
}

// isForwarder reports whether a program listens in place of a server in a container
// or on another machine: their flags are not the server's.
func isForwarder(program string) bool {
	return slices.Contains([]string{
		"docker-proxy", "rootlessport", "slirp4netns", "pasta", "ssh", "kubectl", "socat",
		"nginx", "haproxy", "envoy",
	}, filepath.Base(program))
}

// tokenizer is the path that was asked for, else the model's own folder or
// file if it is on this machine.
func (t *Target) tokenizer(asked string) string {
	if asked != "" || !t.here || !filepath.IsAbs(t.Root) {
		return asked
	}
	if _, err := os.Stat(filepath.Join(t.Root, "tokenizer.json")); err == nil {
		return t.Root
	}
	return ""
}

// MaxLen is the server's longest context in tokens; 0: not known.
func (t *Target) MaxLen() int { return t.maxModelLen }

// Describe writes what was found and what will be run.
func (t *Target) Describe(w io.Writer, wish suite.Wish) {
	maxModelLen := wish.MaxModelLen
	length, from := "not known", "; --max-model-len sets it"
	if maxModelLen > 0 {
		length, from = fmt.Sprint(maxModelLen), ""
		if maxModelLen == t.maxModelLen {
			from = " (" + t.lenFrom + ")"
		}
	}

	fmt.Fprintf(w, "model: %s\nmax-model-len: %s%s\n", t.Model, length, from)
	fmt.Fprintf(w, "tokenizer: %s\n", cmp.Or(t.Root, t.Model))
	counted := "no tokenizer: lengths are in words"
	switch {
	case t.counter.Local:
		counted = t.counter.Name
	case t.counter.Tokenizer != nil:
		counted = "the server"
	}

	fmt.Fprintf(w, "prompts counted by: %s\nengine parameters: %s\nseed: %d\n", counted,
		cmp.Or(t.paramsFrom, "not known"), wish.Seed)
}

// vllmOptions are those of the JSON files.
func (t *Target) vllmOptions() vllm.Options {
	id := cmp.Or(t.Root, t.Model)
	return vllm.Options{Detailed: true, TokenizerID: &id}
}
