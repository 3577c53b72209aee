package endpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/results"
)

// routed is what a router of llama-server says about a model: whether it is loaded.
// Other servers, and llama-server of one model, say nothing of the kind.
type routed struct {
	Value string `json:"value"`
}

// ofModel is a path of questions, with the model, which a router needs.
func (e *Endpoint) ofModel(path string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.routed {
		return path
	}
	return withModel(path, e.model)
}

func withModel(path, model string) string {
	separator := "?"
	if strings.Contains(path, separator) {
		separator = "&"
	}
	return path + separator + "model=" + url.QueryEscape(model)
}

// served notes which model of the list it is, and whether it is the first.
func (e *Endpoint) served(model listedModel, first bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.engine, e.listedFirst, e.routed = engineOf(model), first, model.Status != nil
	e.model, e.vocab = model.ID, 0
	if model.Meta != nil {
		e.vocab = model.Meta.Vocab
	}
	e.simulated = e.simulated || model.Owner == engines.SimulatorOwner
}

// sameModel compares names; a missing tag is ":latest", as ollama has it.
func sameModel(listed, expected string) bool {
	return listed == expected || strings.TrimSuffix(listed, ":latest") == strings.TrimSuffix(expected, ":latest")
}

// quoteAll quotes names for a message, the first few of them.
func quoteAll(names []string) string {
	const most = 5
	var quoted []string
	for _, name := range names[:min(most, len(names))] {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	if len(names) > most {
		quoted = append(quoted, fmt.Sprintf("and %d more", len(names)-most))
	}
	return strings.Join(quoted, ", ")
}

// dialAddress is host and port of a base URL.
func dialAddress(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", fmt.Errorf("base-url: %w", err)
	}

	port := u.Port()
	switch {
	case u.Hostname() == "":
		return "", fmt.Errorf("base-url: %q has no host: write it as http://host:8000", base)
	case port != "":
	case u.Scheme == "https":
		port = "443"
	case u.Scheme == "http":
		port = "80"
	default:
		return "", fmt.Errorf("base-url: %q: scheme %q is not http or https", base, u.Scheme)
	}

	return net.JoinHostPort(u.Hostname(), port), nil
}

// otherFile is the failure of a server that has loaded another file than the
// recipe's under its name: some accept any name.
func (e *Endpoint) otherFile(ctx context.Context) *results.Failure {
	if e.kind.API.ModelFile == "" || !engines.IsGGUF(e.spec.Model) || engines.LlamaModelFlag(e.spec.Model) != "-m" {
		return nil
	}
	a := e.probe.get(ctx, e.kind.API.ModelFile)
	var answer struct {
		Path string `json:"model_path"`
	}
	known := a.OK() && json.Unmarshal(a.Body, &answer) == nil && answer.Path != "" // older builds do not tell
	if !known || filepath.Base(answer.Path) == filepath.Base(e.spec.Model) {
		return nil
	}
	return results.Failf(results.FailWrongModel, "server at %s has loaded %q, not %q: check model: and args:",
		e.probe.shown, answer.Path, e.spec.Model)
}

// Models asks the server which models it serves. The first becomes its model
// if none was named.
func (e *Endpoint) Models(ctx context.Context) ([]string, error) {
	a := e.probe.get(ctx, e.kind.API.ModelsPath)
	if !a.OK() {
		return nil, a.Failure()
	}

	var list modelList
	if json.Unmarshal(a.Body, &list) != nil || len(list.Data) == 0 {
		return nil, results.Failf(results.FailProtocol, "%s: no model in the list", a)
	}

	names := make([]string, len(list.Data))
	for i, model := range list.Data {
		names[i] = model.ID
		if e.Model() == "" || sameModel(model.ID, e.Model()) {
			e.served(model, i == 0)
		}
	}

	return names, nil
}

// ExpectModel looks for the expected model in the list; without an
// expectation the first one listed is taken. A failure says that the server
// serves another one. Not found without a failure means that there is no list
// yet, or none at all: see the answer.
func (e *Endpoint) ExpectModel(ctx context.Context) (found bool, a Answer, failure *results.Failure) {
	a = e.probe.get(ctx, e.kind.API.ModelsPath)
	if failure := a.Final(); failure != nil {
		return false, a, failure
	}

	var list modelList
	if !a.OK() || json.Unmarshal(a.Body, &list) != nil || len(list.Data) == 0 {
		return false, a, nil //nolint:nilerr // a server without a list is judged by its token
	}

	var names []string
	for i, model := range list.Data {
		if e.Model() == "" || sameModel(model.ID, e.Model()) {
			if wrong := e.otherFile(ctx); wrong != nil {
				return false, a, wrong
			}
			e.served(model, i == 0)
			return true, a, nil
		}
		names = append(names, model.ID)
	}

	return false, a, results.Failf(results.FailWrongModel,
		"server at %s serves %s, not %q: check model: and served-name:",
		e.probe.shown, quoteAll(names), e.Model())
}
