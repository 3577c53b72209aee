package endpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/results"
)

// Identity is who answers at an address, as far as it says so. What it does not
// tell is "".
type Identity struct {
	Version string
	Model   string // the name under which it is asked for
	Listed  bool   // that name is in the model list, or the list is not available
	Others  string // the list, where the name is not in it
	Root    string // what the model was loaded from: a file, a folder, a repository
}

// Identity asks the server who it is. An error says that it could not be
// asked.
func (e *Endpoint) Identity(ctx context.Context) (Identity, error) {
	id := Identity{Model: e.Model(), Listed: true}
	if e.kind.API.ModelsPath != "" {
		if err := e.listed(ctx, &id); err != nil {
			return id, err
		}
	}
	for _, place := range e.identityPaths() {
		a := e.probe.get(ctx, e.ofModel(place))
		var answer struct {
			Version string `json:"version"`
			Build   string `json:"build_info"` // llama-server
			Path    string `json:"model_path"` // llama-server, SGLang
			ID      string `json:"model_id"`   // TGI
		}
		if !a.OK() || json.Unmarshal(a.Body, &answer) != nil {
			continue
		}
		for _, fact := range []struct {
			to   *string
			text string
		}{{&id.Version, answer.Version}, {&id.Version, answer.Build}, {&id.Root, answer.Path}, {&id.Root, answer.ID}} {
			if *fact.to == "" {
				*fact.to = fact.text
			}
		}
	}

	return id, nil
}

// identityPaths are where servers tell versions and what they have loaded. Of
// one that runs already it is not known which of them it has.
func (e *Endpoint) identityPaths() []string {
	if e.kind.External {
		return []string{"/version", "/props", "/info", "/get_server_info"}
	}
	places := []string{}
	for _, place := range []string{e.kind.API.VersionPath, e.kind.API.ModelFile} {
		if place != "" && (len(places) == 0 || places[0] != place) {
			places = append(places, place)
		}
	}
	return places
}

// listed looks for the model in the list.
func (e *Endpoint) listed(ctx context.Context, id *Identity) error {
	a := e.probe.get(ctx, e.kind.API.ModelsPath)
	if a.Err == nil && a.Status == http.StatusNotFound {
		return nil // it has no list
	}

	var list modelList

	switch known := a.OK() && json.Unmarshal(a.Body, &list) == nil; {
	case known && len(list.Data) == 0, !known && e.kind.API.ModelsMaybe && a.Err == nil && a.Status/100 == 4:
		return nil // it has no list worth the name
	case !known:
		return a.Failure()
	}

	var names []string
	for _, model := range list.Data {
		if id.Model == "" || sameModel(model.ID, id.Model) {
			id.Root = model.Root
			return nil
		}
		names = append(names, model.ID)
	}

	id.Listed, id.Others = false, quoteAll(names)
	return nil
}

// Changed says in words what makes another server of one: "" if nothing does.
// What one of them does not tell is not a change.
func (i Identity) Changed(before Identity) string {
	differ := func(a, b string) bool { return a != "" && b != "" && a != b }
	var changes []string
	if !i.Listed && before.Listed {
		changes = append(changes, fmt.Sprintf("it serves %s, not %q", i.Others, before.Model))
	}
	if differ(i.Root, before.Root) {
		changes = append(changes, fmt.Sprintf("it has loaded %q, before %q", i.Root, before.Root))
	}
	if differ(i.Version, before.Version) {
		changes = append(changes, fmt.Sprintf("its version is %q, before %q", i.Version, before.Version))
	}
	return strings.Join(changes, "; ")
}

// WrongModel says why an identity is not that of a recipe's server; nil: it
// may be.
func (e *Endpoint) WrongModel(id Identity) *results.Failure {
	if !id.Listed {
		return results.Failf(results.FailWrongModel, "server at %s serves %s, not %q: check model: and served-name:",
			e.probe.shown, id.Others, id.Model)
	}
	file := engines.IsGGUF(e.spec.Model) && engines.LlamaModelFlag(e.spec.Model) == "-m"
	if e.kind.API.ModelFile != "" && file && id.Root != "" && path.Base(id.Root) != path.Base(e.spec.Model) {
		return results.Failf(results.FailWrongModel, "server at %s has loaded %q, not %q: check model: and args:",
			e.probe.shown, id.Root, e.spec.Model)
	}
	return nil
}
