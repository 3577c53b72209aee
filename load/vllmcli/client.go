package vllmcli

import (
	"fmt"
	"maps"
	"math"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/spec"
)

// Options are the load client's options that the flags ask for: all but the
// target's address, model and secrets, and the arrival times.
func (f *Flags) Options() (load.Options, error) {
	api, path, err := f.API()
	if err != nil {
		return load.Options{}, err
	}
	headers, err := f.Request.HeaderMap()
	if err != nil {
		return load.Options{}, err
	}
	body, err := f.body(api)
	if err != nil {
		return load.Options{}, err
	}

	early, err := f.Early()
	if err != nil {
		return load.Options{}, err
	}

	return load.Options{
		Settings: spec.Settings{
			Early: early, Compat: f.Dataset.Compat, MaxConcurrency: f.MaxConcurrency, IgnoreEOS: f.ignoreEOS(),
			Sampling: f.sampling(), Body: body,
			Transport: f.Transport, KeepText: f.SaveDetailed, MaxTokensField: f.Request.LimitField,
		},
		Target:          load.Target{Path: path, API: api, Headers: headers},
		RequestIDPrefix: f.Request.IDPrefix,
	}, nil
}

// ignoreEOS is forced for random prompts by the newest client: a model may end
// its answer to nonsense at once.
func (f *Flags) ignoreEOS() bool {
	random := f.Dataset.Name == "random" || f.Dataset.Name == "random-mm"
	return f.Request.IgnoreEOS || f.Dataset.Name == timedTrace || random && f.Dataset.Compat != dataset.CompatVLLM06
}

// sampling are the parameters that were given.
func (f *Flags) sampling() spec.Sampling {
	r := &f.Request
	s := spec.Sampling{Stop: r.Stop}
	for _, p := range []struct {
		flag  string
		value *float64
		into  **float64
	}{
		{"temperature", &r.Temperature, &s.Temperature},
		{"top-p", &r.TopP, &s.TopP},
		{"min-p", &r.MinP, &s.MinP},
		{"frequency-penalty", &r.Frequency, &s.FrequencyPenalty},
		{"presence-penalty", &r.Presence, &s.PresencePenalty},
		{"repetition-penalty", &r.Repetition, &s.RepetitionPenalty},
	} {
		if f.changed(p.flag) {
			*p.into = p.value
		}
	}
	if f.changed("top-k") {
		s.TopK = &r.TopK
	}

	return s
}

// body are the fields of --extra-body, and what no parameter of the client is.
func (f *Flags) body(api string) (map[string]any, error) {
	fields := map[string]any{}
	if f.changed("logprobs") {
		if api != "completions" {
			return nil, fmt.Errorf("--logprobs is for backends that take completions, not %s", api)
		}
		fields["logprobs"] = f.Request.Logprobs
	}
	if err := f.templateFields(api, fields); err != nil {
		return nil, err
	}
	extra, err := f.Request.Extra()
	maps.Copy(fields, extra)
	return fields, err
}

// templateFields adds what --chat-template-kwargs asks for. vLLM's client fills
// in the template itself; here the server does, so the server gets the values.
func (f *Flags) templateFields(api string, fields map[string]any) error {
	text := f.Request.Template
	if text == "" {
		return nil
	}

	var values map[string]any
	switch err := decodeObject(text, &values); {
	case err != nil:
		return fmt.Errorf("--chat-template-kwargs %q: %w", text, err)
	case api != "chat":
		return fmt.Errorf("--chat-template-kwargs is for --backend openai-chat: prompts of %s get no template", api)
	}
	fields["chat_template_kwargs"] = values
	return nil
}

// Rate is the request rate, nil where all are sent at once.
func (f *Flags) Rate() *float64 {
	if math.IsInf(f.RequestRate, 1) {
		return nil
	}
	return &f.RequestRate
}
