package endpoint

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/logs"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

// Discovery is what a server that runs already says about itself.
type Discovery struct {
	Kind      string // of the engine, by the owner of its models; "": not known
	Models    []string
	Model     string // asked for, or the first
	Root      string // what the model was loaded from: a hub's name or a folder; "": not stated
	Simulated bool

	MaxModelLen int    // tokens of prompt and answer together; 0: not stated
	LenFrom     string // path that gave it

	Arguments map[string]string // in force, secrets hidden; nil: not stated
	ArgsFrom  string            // path that gave them
}

// modelList is the OpenAI model list of an engine.
type modelList struct {
	Data []listedModel `json:"data"`
}

// listedModel is an entry of it with all that engines put there.
type listedModel struct {
	ID          string `json:"id"`
	Owner       string `json:"owned_by"`
	Root        string `json:"root"`
	MaxModelLen int    `json:"max_model_len"`
	Meta        *struct {
		Vocab int `json:"n_vocab"`
	} `json:"meta"`
	Status *routed `json:"status"`
}

// Discover asks a server of any engine which models it serves, and what else
// it says without being asked for an answer. model "" takes the first one.
func Discover(ctx context.Context, spec recipe.Spec, model string) (Discovery, error) {
	probe := newProber(joinable(spec.BaseURL), spec)
	var list modelList

	const path = "/v1/models"
	a := probe.get(ctx, path)
	if !a.OK() {
		return Discovery{}, a.Failure()
	}
	if json.Unmarshal(a.Body, &list) != nil || len(list.Data) == 0 {
		return Discovery{}, results.Failf(results.FailProtocol, "%s: no model in the list", a)
	}

	d := Discovery{Model: model}
	chosen := list.Data[0]
	for _, entry := range list.Data {
		d.Models = append(d.Models, entry.ID)
		if model != "" && sameModel(entry.ID, model) {
			chosen = entry
		}
	}

	if model == "" {
		d.Model = chosen.ID
	}

	d.Kind, d.Root, d.Simulated = engineOf(chosen), chosen.Root, chosen.Owner == engines.SimulatorOwner
	if chosen.MaxModelLen > 0 {
		d.MaxModelLen, d.LenFrom = chosen.MaxModelLen, path
	}

	ofModel := func(path string) string { return path }
	if chosen.Status != nil {
		ofModel = func(path string) string { return withModel(path, d.Model) }
	}
	d.ask(ctx, probe, spec, ofModel)
	return d, nil
}

// engineOf is the kind of server behind an entry of a model list.
func engineOf(m listedModel) string {
	owner := strings.ToLower(m.Owner)
	ofOwner := func(beginning string) bool { return strings.HasPrefix(owner, beginning) }
	for _, kind := range engines.All() {
		if slices.ContainsFunc(kind.API.Owners, ofOwner) || kind.API.ListsState && (m.Meta != nil || m.Status != nil) {
			return kind.Name
		}
	}
	return ""
}

// ask reads the server's descriptions of itself.
func (d *Discovery) ask(ctx context.Context, probe *prober, spec recipe.Spec, ofModel func(string) string) {
	kind, known := engines.Lookup(d.Kind)
	if !known {
		return
	}

	hide := &Endpoint{redact: recipe.NewRedaction(spec)}
	for _, place := range kind.API.Describe {
		a := probe.get(ctx, ofModel(place.Path))
		var answer any
		if !a.OK() || json.Unmarshal(a.Body, &answer) != nil {
			continue
		}
		d.takeLength(answer, place)
		if place.Arguments != "" {
			arguments := make(map[string]string)
			flatten(at(answer, strings.Trim(place.Arguments, ".")), "", arguments)
			d.Arguments, d.ArgsFrom = hide.presentable(arguments), place.Path
		}
	}
}

// takeLength takes the context length in a description.
func (d *Discovery) takeLength(answer any, place engines.Description) {
	for where, fact := range place.Facts {
		if n, ok := at(answer, where).(float64); ok && fact == logs.FactContext && n >= 1 && d.MaxModelLen == 0 {
			d.MaxModelLen, d.LenFrom = int(n), place.Path
		}
	}
}
