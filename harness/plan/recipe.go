package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/dataset/audio"
	"github.com/benchrig/bench/dataset/prng"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/launchers/vram"
	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// Recipe is one server to launch.
type Recipe struct {
	Kind      engines.Kind
	Spec      recipe.Spec
	FixedPort bool // the scenario's, or that of a server that runs already: no other is tried
}

// Recipes turns a variant into the recipes of its servers, in the order of their
// start: one per replica, of every component. The problem, if any, is what keeps this
// machine from running it; the recipes are then those of a machine that could.
func Recipes(sc *scenarios.Scenario, v scenarios.Variant, machine Machine) (all []Recipe, problem string, err error) {
	all, lacks, err := recipesOf(sc, v, machine)
	if lacks != "" {
		problem = problemOf(lacks, v.Name)
	}
	return all, problem, err
}

// recipesOf are the recipes of a variant, and what the machine lacks for it.
func recipesOf(sc *scenarios.Scenario, v scenarios.Variant, machine Machine) (all []Recipe, lacks string, err error) {
	if len(v.Components) > 0 {
		return componentRecipes(sc, v, machine)
	}

	kind, ok := kindOf(sc, v)
	if !ok {
		return nil, "", variantError(v, fmt.Errorf("unknown launcher %q", v.Server.Launcher))
	}
	placed, lacks, err := place(kind, v, machine)
	if err != nil {
		return nil, "", variantError(v, err)
	}
	for replica := range max(1, v.Server.Replicas) {
		spec := BaseSpec(sc, v, kind, machine)
		spec.Replica, spec.Replicas = replica, max(1, v.Server.Replicas)
		spec.Port += replica
		if placed != nil {
			spec.GPUs = placed[replica]
		}
		spec.Devices = devicesOf(kind, v, machine, spec.GPUs)
		if !kind.External {
			var short string
			if spec.Place, short = serverPlace(sc, v.Server, machine, spec.GPUs); lacks == "" {
				lacks = short
			}
		}
		if short := spread(&spec, kind, v, machine); lacks == "" {
			lacks = short
		}
		all = append(all, Recipe{kind, spec, kind.External || v.Server.Port != 0})
	}

	return all, lacks, nil
}

// devicesOf are the ids of the GPUs whose memory must be back after a stop:
// those that a server is given, or where it is given none those that it sees.
func devicesOf(kind engines.Kind, v scenarios.Variant, machine Machine, given []int) []string {
	if kind.External || kind.Simulated {
		return nil
	}
	devices := machine.Devices
	if given == nil {
		devices, _ = machine.VisibleTo(kind, v)
	}
	var ids []string
	for _, d := range devices {
		if given == nil || slices.Contains(given, d.Index) {
			ids = append(ids, d.ID())
		}
	}
	return ids
}

// place decides which GPUs each replica gets; nil leaves visibility alone, as
// for an engine that asks for one GPU on a machine without any: it may have been
// built for the CPU.
func place(kind engines.Kind, v scenarios.Variant, machine Machine) (placed [][]int, problem string, err error) {
	need, err := gpusEach(kind, v)
	if err != nil {
		return nil, "", err
	}
	if v.Server.GPUs.None || kind.External {
		return nil, "", nil
	}
	replicas := max(1, v.Server.Replicas)
	if need == 0 && v.Server.GPUs.List != nil {
		need = len(v.Server.GPUs.List) / replicas
	}
	onCPU := machine.usable() == 0 && need == 1 && v.Server.GPUs.Count == 0 && v.Server.GPUs.List == nil
	if need == 0 || onCPU {
		return nil, "", nil
	}

	if machine.Allowed != nil && len(machine.Allowed.Parts) > 0 {
		return placeOnParts(v, machine.Allowed.Parts, need, replicas)
	}
	list, problem := machine.choice(v.Server.GPUs.List, need*replicas)
	if problem == "" {
		placed, err = recipe.Place(need, replicas, list, machine.GPUs)
		var short *results.Failure
		if !errors.As(err, &short) {
			return machine.granted(placed), "", err
		}
		problem = short.Message
	}
	placed, err = recipe.Place(need, replicas, nil, need*replicas)

	return placed, problem, err
}

// gpusEach is how many GPUs a replica needs on each of its nodes, by its arguments
// unless the scenario says it; 0: they do not tell.
func gpusEach(kind engines.Kind, v scenarios.Variant) (int, error) {
	if need := v.Server.GPUs.Count; need > 0 || kind.Args.WorldSize == nil {
		return need, nil
	}
	return ofEachNode(v, kind.Args.WorldSize(Args(v.Server.Args)))
}

// usable is the number of GPUs that servers can be placed on.
func (b Machine) usable() int {
	if b.Allowed != nil {
		return len(b.Allowed.Devices)
	}

	return b.GPUs
}

// choice are the indices of the GPUs to place servers on, of which need are
// needed: those that the scenario lists, or those that bench itself was left
// with. The problem is a list, or a need, beyond these.
func (b Machine) choice(listed []int, need int) (indices []int, problem string) {
	if b.Allowed == nil || len(b.Allowed.By) == 0 {
		return listed, ""
	}
	for _, d := range b.Allowed.Devices {
		indices = append(indices, d.Index)
	}

	for _, index := range listed {
		if !slices.Contains(indices, index) {
			return nil, fmt.Sprintf("gpus: lists GPU %d, and %s", index, b.Allowed)
		}
	}
	switch {
	case listed != nil:
		return listed, ""
	case need > len(indices):
		return nil, fmt.Sprintf("needs %s, and %s", text.Count(need, "GPU"), b.Allowed)
	}

	return indices, ""
}

// placeOnParts is the placement where a variable names MIG devices: they have
// no index, so that a single server inherits the variable as it is.
func placeOnParts(v scenarios.Variant, parts []string, need, replicas int) ([][]int, string, error) {
	if replicas == 1 && need == len(parts) && v.Server.GPUs.List == nil {
		return nil, "", nil
	}
	placed, err := recipe.Place(need, replicas, nil, need*replicas)

	return placed, fmt.Sprintf("needs %s, and a variable names %s (%s), which bench cannot divide among "+
		"servers: name as many as are needed, and no gpus: list", text.Count(need*replicas, "GPU"),
		text.Count(len(parts), "MIG device"), strings.Join(parts, ", ")), err
}

// granted turns places among the granted GPUs into indices of the machine.
func (b Machine) granted(placed [][]int) [][]int {
	for _, gpus := range placed {
		for i, at := range gpus {
			if b.Granted != nil {
				gpus[i] = b.Granted[at]
			}
		}
	}
	return placed
}

// BaseSpec returns the part of a launch that all replicas of a variant share: their GPUs are not in it.
func BaseSpec(sc *scenarios.Scenario, v scenarios.Variant, kind engines.Kind, machine Machine) recipe.Spec {
	s := v.Server
	spec := recipe.Spec{
		Launcher: s.Launcher, Model: s.Model, ServedName: s.ServedName, Binary: s.Binary, Command: s.Command,
		Args: Args(s.Args), Env: map[string]string{}, Secrets: sc.Secrets,
		BaseURL: s.BaseURL, PathPrefix: pathPrefix(sc, kind, s.BaseURL), UnixSocket: s.UnixSocket,
		Headers: headersOf(sc), Host: s.Host, Port: s.Port, Vendor: machine.Vendor, API: s.API, APIKey: s.APIKey.Value,
		Dir:       s.WorkDir,
		Ready:     recipe.Ready{Timeout: s.Ready.Timeout, Stall: s.Ready.Stall, Path: s.Ready.Path, Log: s.Ready.Log},
		Smoke:     recipe.Smoke{Path: s.Smoke.Path, Body: s.Smoke.Body},
		Answer:    answerOf(sc),
		StopGrace: s.Stop.Grace, Drain: s.Stop.Drain,
		Container: container.Options(s.Container),
		VRAM: vram.Policy{
			Timeout: sc.VRAM.Timeout, Tolerance: sc.VRAM.Tolerance,
			Foreign: string(sc.VRAM.Foreign),
		},
	}
	if spec.Dir == "" {
		spec.Dir = sc.Dir
	}
	if spec.Port == 0 && kind.DefaultPort != 0 {
		spec.Port = kind.DefaultPort + machine.PortOffset
	}
	if sc.RunsProgram() {
		asProgram(sc, &spec, machine)
	}
	if kind.Simulated && spec.Binary == nil {
		spec.Binary = []string{machine.Self}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		switch val := s.Env[name]; {
		case val.Unset:
			spec.Unset = append(spec.Unset, name)
		case val.Inherit:
			spec.Inherit = append(spec.Inherit, name)
		default:
			spec.Env[name] = val.Value
		}
	}

	return spec
}

// answerOf is the request that shows that a server works which gives embeddings or
// scores, or takes audio; zero: one that generates tokens.
func answerOf(sc *scenarios.Scenario) recipe.Smoke {
	if len(sc.Points) == 0 {
		return recipe.Smoke{}
	}

	point := sc.Points[0]
	api, err := dialect.APINamed(point.API)
	if err != nil || !api.Numbers && !api.Audio {
		return recipe.Smoke{}
	}
	request := recipe.Smoke{Path: point.Endpoint}
	if known, ok := dialect.OfPath(point.Endpoint); ok {
		request.Path = known.DefaultPath // what stands before it is the server's prefix
	}
	if api.Audio {
		request.Body = map[string]any{"response_format": "json"}
		request.WAV = audio.Make(prng.NewPCG64(0), audio.Rate) // one second
		return request
	}

	prompt := dialect.Prompt{Text: "Hello"}
	if point.API == "rerank" || point.API == "score" {
		prompt.Texts = []string{"Hello"}
	}
	encoded, err := api.Encode(&dialect.Common{Settings: &point.Settings}, dialect.Ask{Prompt: prompt})
	if err == nil {
		_ = json.Unmarshal(encoded.Body, &request.Body) // of our own making
	}
	return request
}

// headersOf are those that the load's requests carry; a server or a gateway may
// want them with every question.
func headersOf(sc *scenarios.Scenario) map[string]string {
	if len(sc.Points) == 0 || len(sc.Points[0].Headers) == 0 {
		return nil
	}
	headers := make(map[string]string)
	for name, value := range sc.Points[0].Headers {
		headers[name] = value.Value
	}
	return headers
}

// Args converts a scenario's engine arguments to those of a launch, in the same order.
func Args(in []scenarios.Arg) []recipe.Arg {
	out := make([]recipe.Arg, len(in))
	for i, a := range in {
		out[i] = recipe.Arg{Name: a.Name, Value: a.Value}
	}
	return out
}

func baseURL(kind engines.Kind, spec recipe.Spec) string {
	switch {
	case kind.External:
		return strings.TrimSuffix(spec.BaseURL, "/")
	case spec.Port == 0:
		return ""
	}
	host := spec.Host
	if len(spec.Span.Nodes) == 1 {
		host = spec.Reached()
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(spec.Port))
}

// variantError puts the place of a variant in front of what is wrong with it.
func variantError(v scenarios.Variant, err error) error {
	return fmt.Errorf("%s:%d:%d: variant %q: %w", v.Pos.File, v.Pos.Line, v.Pos.Column, v.Name, err)
}
