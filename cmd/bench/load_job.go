package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/launchers"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/vllmcli"
	"github.com/benchrig/bench/results"
)

// prepareLoad makes the job that the flags describe: the server's model, the
// prompts, the send times.
func prepareLoad(ctx context.Context, e env, f *vllmcli.Flags) (step.Job, *results.Result, error) {
	job := step.Job{KeepText: f.SaveDetailed}
	if err := judging(f, &job); err != nil {
		return job, nil, usageError(err)
	}
	var err error
	if job.Options, err = f.Options(); err != nil {
		return job, nil, usageError(err)
	}
	server, err := attachLoad(ctx, e, f, &job.Options)
	if err != nil {
		return job, nil, err
	}
	job.Servers = []step.Server{server}
	if job.Driver, err = loadDriverFor(ctx, e, f); err != nil {
		return job, nil, err
	}
	set, counter, err := loadPrompts(ctx, f, server)
	if err != nil {
		return job, nil, err
	}
	job.Options.CountTokens = counter.Count()
	if counter.Local {
		job.CountText = counter.Count()
	}
	result := loadResult(f, set, job.Options)
	result.Asked.Tokenizer = counter.Name
	job.Prompts = step.LoadPrompts(set)
	job.Warmups = warmups(f.Warmups, job.Prompts)
	if result.Asked.Body, err = load.ExampleBody(job.Options, job.Prompts[0]); err != nil {
		return job, nil, usageError(err)
	}
	schedule := step.Schedule{
		Compat: f.Dataset.Compat, Rate: f.RequestRate, Burstiness: f.Burstiness, Duration: f.Duration,
		Ramp: load.Ramp{Strategy: f.Ramp, Start: float64(f.RampStart), End: float64(f.RampEnd)},
	}
	if err := schedule.Apply(&job.Options, &result.Asked, set); err != nil {
		return job, nil, usageError(err)
	}
	return job, result, nil
}

// loadKey is the variable that bench load takes the server's key from.
const loadKey = "OPENAI_API_KEY"

// requestKey names what the key of a request is taken from.
func requestKey(f *vllmcli.Flags) string {
	if headers, err := f.Request.HeaderMap(); err == nil && headers["Authorization"] != "" {
		return "--header Authorization"
	}
	return loadKey
}

// tellKey adds to the error of a server that refuses a key what the key was
// taken from; other errors stay as they are.
func tellKey(err error, from string) error {
	if failure, ok := errors.AsType[*results.Failure](err); ok && failure.Class == results.FailAuth {
		return fmt.Errorf("%w (the key is taken from %s)", err, from)
	}
	return err
}

// attachLoad finds the server and the name of its model.
func attachLoad(ctx context.Context, e env, f *vllmcli.Flags, o *load.Options) (*launchers.Server, error) {
	tls, ca, err := step.TLSConfig(f.CACert, f.Insecure)
	if err != nil {
		return nil, usageError(err)
	}
	key, _ := e.Lookup(loadKey)
	spec := recipe.Spec{
		Launcher: "external", BaseURL: f.Base(), UnixSocket: f.UnixSocket, TLS: tls, APIKey: key, Life: "running",
		Model: f.Model, ServedName: f.ServedName,
	}
	if key != "" {
		spec.Secrets = []string{key}
		if _, given := o.Target.Headers["Authorization"]; !given {
			o.Target.Headers["Authorization"] = "Bearer " + key
		}
	}
	server := launchers.Attach(kindOf(f.Backend), spec)
	if err := nameModel(ctx, e, f, server); err != nil {
		return nil, err
	}
	o.Target.BaseURLs, o.Target.UnixSocket, o.Target.TLS, o.Target.CA, o.Target.Model = []string{f.Base()}, f.UnixSocket, tls, ca, server.Model()
	return server, nil
}

// nameModel asks the server for its models. That fails only where the flags
// name none: not every server has a list.
func nameModel(ctx context.Context, e env, f *vllmcli.Flags, server *launchers.Server) error {
	named := server.Model()
	models, err := listModels(ctx, e, f, server)
	if err != nil && named == "" {
		return fmt.Errorf("ask the server for its model: %w (or name it with --model)", tellKey(err, loadKey))
	}
	switch {
	case err != nil:
		fmt.Fprintf(e.Stderr, "note: no model list: %v\n", tellKey(err, loadKey))
	case named == "":
		fmt.Fprintf(e.Stderr, "model: %s\n", server.Model())
	case !slices.Contains(models, server.Model()):
		fmt.Fprintf(e.Stderr, "note: the server lists %s, not %s\n", strings.Join(models, ", "), named)
	}
	return nil
}

// listModels asks until the server answers, if there is time to wait: one that
// loads its model refuses connections first, and then says 503.
func listModels(ctx context.Context, e env, f *vllmcli.Flags, server *launchers.Server) (models []string, err error) {
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
	if late := untilReady(ctx, e, f, ask); late != nil {
		return nil, late
	}
	return models, err
}

// kindOf is what a backend's server can be asked beside the load.
func kindOf(backend string) engines.Kind {
	name := map[string]string{"llama.cpp": "llamacpp", "sglang": "sglang", "tgi": "tgi", "ollama": "ollama"}[backend]
	if name == "" {
		name = "vllm"
	}
	kind, _ := engines.Lookup(name)
	kind.Name, kind.External = "external", true
	kind.ServedName = nil
	if kind.ModelsPath == "" {
		kind.ModelsPath = "/v1/models"
	}
	return kind
}

// loadPrompts makes the prompts, counted by a tokenizer's file, else by the
// server where it does that, else by nobody.
func loadPrompts(ctx context.Context, f *vllmcli.Flags, server *launchers.Server) (*dataset.Set, step.TokenCounter, error) {
	spec, err := f.Dataset.Spec()
	if err != nil {
		return nil, step.TokenCounter{}, usageError(err)
	}
	counter, err := step.Counter(ctx, f.Dataset.Tokenizer, server)
	if err != nil {
		return nil, counter, usageError(err)
	}
	set, err := dataset.Build(ctx, spec, counter.Tokenizer)
	if err != nil {
		return nil, counter, usageError(err)
	}
	return set, counter, nil
}

// loadResult is the result before anything is measured.
func loadResult(f *vllmcli.Flags, set *dataset.Set, o load.Options) *results.Result {
	asked := results.Asked{
		Endpoint: o.Target.Path, API: o.Target.API, Dataset: f.Dataset.Name, DatasetPath: f.Dataset.Path, DatasetSHA256: set.SHA256,
		Seed: f.Dataset.Seed, NumPrompts: f.Dataset.NumPrompts, RequestRate: f.Rate(), IgnoreEOS: o.IgnoreEOS,
		Temperature: o.Sampling.Temperature, Warmups: f.Warmups, Compat: f.Dataset.Compat,
	}
	if f.MaxConcurrency > 0 {
		asked.MaxConcurrency = &f.MaxConcurrency
	}
	if !math.IsInf(f.Burstiness, 1) {
		asked.Burstiness = &f.Burstiness
	}
	result := &results.Result{Format: results.FormatVersion, Bench: version, Step: results.StepRef{ID: "load", Variant: "load", Point: "all", Repeat: 1, Attempt: 1}, Asked: asked}
	for _, note := range set.Notes {
		result.Warnings = append(result.Warnings, results.Warning{Code: results.WarnDataset, Message: note})
	}
	return result
}
