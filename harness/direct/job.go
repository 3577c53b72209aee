// Package direct drives a server that is already running, without a scenario:
// what bench load does.
//
// Flags go in; a load pass comes out, ready to be sent, and its result before
// anything is measured. It neither starts nor stops the server.
package direct

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/dataset/mixture"
	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/launchers"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/load"
	loadspec "github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/load/vllmcli"
	"github.com/benchrig/bench/results"
)

// Prepare makes the job that the flags describe: the server's model, the
// prompts, the send times.
func Prepare(ctx context.Context, p machine.Process, f *vllmcli.Flags) (step.Job, *results.Result, error) {
	job := step.Job{KeepText: f.SaveDetailed, MinSuccess: f.EarlyEnd.MinSuccess}
	if err := judging(f, &job); err != nil {
		return job, nil, usage.Mark(err)
	}

	var err error
	if job.Options, err = f.Options(); err != nil {
		return job, nil, usage.Mark(err)
	}

	server, err := attach(ctx, p, f, &job.Options)
	if err != nil {
		return job, nil, err
	}

	job.Servers = []step.Server{step.Launched{Server: server}}
	if job.Driver, err = driverFor(ctx, p, f); err != nil {
		return job, nil, err
	}

	set, counter, err := prompts(ctx, f, &job.Options.Settings, server)
	if err != nil {
		return job, nil, err
	}

	if job.Probes, err = step.NewProbes(job.Options.Probes, f.Dataset.Seed, nil); err != nil {
		return job, nil, usage.Mark(err)
	}

	result := newResult(p.Version, f, job.Options)
	job.SetPrompts(set, warmups(f, &job.Options.Settings, step.LoadPrompts(set)), result)
	schedule := step.Schedule{
		Compat: f.Dataset.Compat, Rate: f.RequestRate, Burstiness: f.Burstiness, Duration: f.Duration,
		NoReplay: f.NoSelfTimed, Stages: job.Options.Stages,
		Ramp: loadspec.Ramp{Strategy: f.Ramp, Start: float64(f.RampStart), End: float64(f.RampEnd)},
	}

	err = job.SetSending(schedule, set, counter, result)
	if failure, ok := errors.AsType[*results.Failure](err); ok {
		err = errors.New(failure.Message) // the class says nothing of flags
	}
	if err != nil {
		return job, nil, usage.Mark(err)
	}

	return job, result, nil
}

// keyVariable is the variable that bench load takes the server's key from.
const keyVariable = "OPENAI_API_KEY"

// RequestKey names what the key of a request is taken from.
func RequestKey(f *vllmcli.Flags) string {
	if headers, err := f.Request.HeaderMap(); err == nil && headers["Authorization"] != "" {
		return "--header Authorization"
	}
	return keyVariable
}

// NameKey adds to the error of a server that refuses a key what the key was
// taken from; other errors stay as they are.
func NameKey(err error, from string) error {
	if failure, ok := errors.AsType[*results.Failure](err); ok && failure.Class == results.FailAuth {
		return fmt.Errorf("%w (the key is taken from %s)", err, from)
	}
	return err
}

// attach finds the server and the name of its model.
func attach(ctx context.Context, p machine.Process, f *vllmcli.Flags, o *load.Options) (*launchers.Server, error) {
	tls, ca, err := step.TLSConfig(f.CACert, f.Insecure)
	if err != nil {
		return nil, usage.Mark(err)
	}

	key, _ := p.Lookup(keyVariable)
	spec := recipe.Spec{
		Launcher: "external", BaseURL: f.Base(), UnixSocket: f.UnixSocket, TLS: tls, APIKey: key, Life: "running",
		Model: f.Model, ServedName: f.ServedName, Headers: o.Target.Headers,
	}

	if key != "" {
		spec.Secrets = []string{key}
		if !loadspec.HasHeader(o.Target.Headers, "Authorization") {
			loadspec.SetHeader(o.Target.Headers, "Authorization", "Bearer "+key)
		}
	}

	for name, value := range o.Target.Headers {
		if secrets.IsName(name) {
			secrets.Remember(value)
		}
	}
	server := launchers.Attach(KindOf(f.Backend), spec)
	if err := nameModel(ctx, p, f, server); err != nil {
		return nil, err
	}

	o.Target.BaseURLs, o.Target.UnixSocket, o.Target.Model = []string{f.Base()}, f.UnixSocket, server.Model()
	o.Target.TLS, o.Target.CA = tls, ca
	return server, nil
}

// nameModel asks the server for its models. That fails only where the flags
// name none: not every server has a list.
func nameModel(ctx context.Context, p machine.Process, f *vllmcli.Flags, server *launchers.Server) error {
	named := server.Model()
	models, err := listModels(ctx, p, f, server)
	if failure, ok := errors.AsType[*results.Failure](err); ok && failure.Class == results.FailConnect && named == "" {
		return fmt.Errorf("no server answers (%w): start it, or name its address with --base-url or --port", err)
	}
	if err != nil && named == "" {
		return fmt.Errorf("ask the server for its model: %w (or name it with --model)", NameKey(err, keyVariable))
	}
	switch {
	case err != nil:
		fmt.Fprintf(p.Stderr, "note: no model list: %v\n", NameKey(err, keyVariable))
	case named == "":
		fmt.Fprintf(p.Stderr, "model: %s\n", server.Model())
	case !slices.Contains(models, server.Model()):
		fmt.Fprintf(p.Stderr, "note: the server lists %s, not %s\n", strings.Join(models, ", "), named)
	}
	return nil
}

// listModels asks until the server answers, if there is time to wait: one that
// loads its model refuses connections first, and then says 503.
func listModels(ctx context.Context, p machine.Process, f *vllmcli.Flags, server *launchers.Server) (models []string,
	err error,
) {
	ask := func(ctx context.Context) error {
		models, err = server.Models(ctx)
		failure, ok := errors.AsType[*results.Failure](err)
		if ok && (failure.Class == results.FailConnect || failure.HTTPStatus == http.StatusServiceUnavailable) {
			return failure
		}
		return nil
	}

	if f.ReadyTimeoutS <= 0 {
		_ = ask(ctx) // err holds it
		return models, err
	}
	if late := untilReady(ctx, p, f, ask); late != nil {
		return nil, late
	}

	return models, err
}

// KindOf is what a backend's server can be asked beside the load.
func KindOf(backend string) engines.Kind {
	kind := engines.ByBackend(backend)
	kind.Name, kind.External = "external", true
	kind.API.ServedName = nil
	if kind.API.ModelsPath == "" {
		kind.API.ModelsPath = "/v1/models"
	}
	return kind
}

// prompts makes the prompts, counted by a tokenizer's file, else by the
// server where it does that, else by nobody.
func prompts(ctx context.Context, f *vllmcli.Flags, s *loadspec.Settings, server *launchers.Server) (*dataset.Set,
	step.TokenCounter, error,
) {
	orders, err := f.Specs()
	if err != nil {
		return nil, step.TokenCounter{}, usage.Mark(err)
	}
	counter, err := step.Counter(ctx, f.Dataset.Tokenizer, server)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, counter, usage.Mark(fmt.Errorf("--tokenizer %s: no such file or folder: nothing is downloaded; "+
			"give a folder that holds a tokenizer.json, or leave --tokenizer out", f.Dataset.Tokenizer))
	}
	if err != nil {
		return nil, counter, usage.Mark(err)
	}
	var sets []*dataset.Set
	for _, order := range orders {
		set, err := dataset.Build(ctx, order, counter.Tokenizer)
		if err != nil {
			return nil, counter, usage.Mark(err)
		}
		sets = append(sets, set)
	}

	kinds := s.Kinds()
	if len(kinds) == 0 {
		return sets[0], counter, nil
	}
	set, err := mixture.Whole(kinds, f.Dataset.NumPrompts, f.Dataset.Seed, sets)
	if err != nil {
		return nil, counter, usage.Errorf("%w: lower --num-prompts", err)
	}
	return set, counter, nil
}

// warmups are copies of the first prompt, as vLLM's client warms up; of a mixture, of
// the first prompt of each kind in turn.
func warmups(f *vllmcli.Flags, s *loadspec.Settings, measured []load.Prompt) []load.Prompt {
	var first []load.Prompt
	for _, p := range measured {
		if slices.IndexFunc(first, func(had load.Prompt) bool {
			return had.Class == p.Class && had.Model == p.Model
		}) < 0 {
			first = append(first, p)
		}
	}
	n := max(0, f.Warmups)
	if len(s.Kinds()) > 0 {
		n = loadspec.MixedWarmups(s.Kinds(), n)
	}
	out := make([]load.Prompt, n)
	for i := range out {
		out[i] = first[i%len(first)]
	}
	return out
}

// newResult is the result before anything is measured.
func newResult(version string, f *vllmcli.Flags, o load.Options) *results.Result {
	asked := results.Asked{
		Endpoint: o.Target.Path, API: o.Target.API, Dataset: f.Dataset.Name,
		DatasetPath: f.Dataset.Path,
		Seed:        f.Dataset.Seed, NumPrompts: f.Dataset.NumPrompts, RequestRate: f.Rate(), IgnoreEOS: o.IgnoreEOS,
		InputLen: f.Dataset.MeanInputLen(), Temperature: o.Sampling.Temperature, Settings: &o.Settings,
		Warmups: f.Warmups, Compat: f.Dataset.Compat,
	}

	if len(o.Classes) > 0 {
		asked.Dataset, asked.DatasetPath, asked.InputLen = "mixture", "", nil
		asked.IgnoreEOS = !slices.ContainsFunc(o.Classes, func(c loadspec.Class) bool { return !c.IgnoreEOS })
	}
	if f.MaxConcurrency > 0 {
		asked.MaxConcurrency = &f.MaxConcurrency
	}
	if !math.IsInf(f.Burstiness, 1) {
		asked.Burstiness = &f.Burstiness
	}

	return &results.Result{
		Format: results.FormatVersion, Bench: version,
		Step: results.StepRef{ID: "load", Variant: "load", Point: "all", Repeat: 1, Attempt: 1}, Asked: asked,
	}
}

// judging sets what the figures are judged by.
func judging(f *vllmcli.Flags, job *step.Job) error {
	var err error
	if job.Goodput, err = f.Goals(); err != nil {
		return err
	}
	if _, err = f.ShownMetrics(); err != nil {
		return err
	}
	if _, err = f.MetadataPairs(); err != nil {
		return err
	}
	job.Percentiles, err = f.ShownPercentiles()
	return err
}
