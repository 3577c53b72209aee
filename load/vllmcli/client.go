package vllmcli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/internal/userfile"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/load/toolcall"
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
	body, err := f.body(api.Name)
	if err != nil {
		return load.Options{}, err
	}

	early, err := f.Early()
	if err != nil {
		return load.Options{}, err
	}
	stages, err := f.Stages()
	if err != nil {
		return load.Options{}, err
	}
	tools, err := f.tools(api)
	if err != nil {
		return load.Options{}, err
	}

	o := load.Options{
		Settings: spec.Settings{
			Resend: f.Resend, Evaluate: f.Evaluate, Early: early, Compat: f.Dataset.Compat,
			MaxConcurrency: f.MaxConcurrency,
			IgnoreEOS:      f.ignoreEOS(),
			Sampling:       f.sampling(), Body: body, Tools: tools, Stages: stages, Probes: f.probes(),
			Transport: f.Transport, KeepText: f.SaveDetailed, MaxTokensField: f.Request.LimitField,
		},
		Target:          load.Target{Path: path, API: api.Name, Headers: headers},
		RequestIDPrefix: f.Request.IDPrefix,
	}
	return o, f.mix(&o.Settings)
}

// ignoreEOS is forced for random prompts by the newest client: a model may end
// its answer to nonsense at once.
func (f *Flags) ignoreEOS() bool {
	random := f.Dataset.Name == "random" || f.Dataset.Name == "random-mm"
	forced := f.Dataset.Name == timedTrace || random && f.Dataset.Compat != dataset.CompatVLLM06
	return f.Request.IgnoreEOS || forced && f.ToolFile == "" // what follows a call is no part of it
}

// maxTools bounds the file of tools, in bytes.
const maxTools = 16 << 20

// tools are those of --tools; nil: none.
func (f *Flags) tools(api dialect.API) ([]any, error) {
	if f.ToolFile == "" {
		return nil, nil
	}

	switch {
	case !api.Tools:
		return nil, fmt.Errorf("--tools is for --backend openai-chat, openai-responses and anthropic: "+
			"%s takes none", api.Name)
	case f.Dataset.Compat != "":
		return nil, errors.New("--tools and --compat exclude each other: no version of vLLM's client sends tools")
	}

	raw, err := userfile.Read(f.ToolFile, maxTools)
	if err != nil {
		return nil, fmt.Errorf("--tools: %w", err)
	}
	if _, err := toolcall.Parse(raw); err != nil {
		return nil, fmt.Errorf("--tools %s: %w", f.ToolFile, err)
	}
	var list []any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&list); err != nil {
		return nil, fmt.Errorf("--tools %s: %w", f.ToolFile, err)
	}
	return list, nil
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
	if f.Priority >= 0 {
		fields["priority"] = f.Priority
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
