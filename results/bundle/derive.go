package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/results"
)

// Derive makes a scenario that runs a step again, as far as its result says how:
// the server's command and environment, the load and its prompts. The error
// says what the result does not tell, and nothing is guessed.
func Derive(r *results.Result) ([]byte, error) {
	if err := derivable(r); err != nil {
		return nil, fmt.Errorf("make a scenario of result.json: %w", err)
	}

	server, err := deriveServer(r.Servers[0])
	if err != nil {
		return nil, fmt.Errorf("make a scenario of result.json: %w", err)
	}

	load, err := deriveLoad(r)
	if err != nil {
		return nil, fmt.Errorf("make a scenario of result.json: %w", err)
	}

	text, err := json.MarshalIndent(map[string]any{
		"schema": 1, "name": r.Scenario, "server": server, "load": load,
		"variants": []any{map[string]any{"name": r.Step.Variant}},
	}, "", "  ")
	if err != nil {
		return nil, err
	}

	head := fmt.Sprintf("# Made of the result.json of step %s of run %s. Settings of the dataset that a\n# result "+
		"does not tell have their defaults; the hash of the prompts shows whether they fit.\n", r.Step.ID, r.Run)
	return append([]byte(head), append(text, '\n')...), nil
}

// derivable refuses what a lone result never says.
func derivable(r *results.Result) error {
	var lacks []string
	switch {
	case r.Imported != nil:
		lacks = append(lacks, "it was imported: what was run is not recorded")
	case len(r.Servers) == 0:
		lacks = append(lacks, "it names no server")
	case len(r.Servers) > 1:
		lacks = append(lacks, fmt.Sprintf("it has %d replicas, whose share of the machine is not recorded",
			len(r.Servers)))
	case r.SQZB != nil || r.OfProgram():
		lacks = append(lacks, "its method is recorded in its scenario only")
	case r.Asked.API == "":
		lacks = append(lacks, "nothing was asked of the server")
	case r.Asked.Ramp != nil:
		lacks = append(lacks, "a ramp of the request rate is recorded in its scenario only")
	}

	if lacks == nil {
		s := r.Servers[0]
		for _, word := range s.Argv {
			if strings.Contains(word, hidden) || strings.Contains(word, "${") {
				lacks = append(lacks, fmt.Sprintf("argument %q", word))
			}
		}
		for name, value := range s.Env {
			if strings.Contains(value, hidden) || strings.Contains(value, "${") {
				lacks = append(lacks, "variable "+name+", which is hidden")
			}
		}
	}

	if lacks != nil {
		slices.Sort(lacks)
		return errors.New("not known: " + strings.Join(lacks, "; ") +
			"; give its scenario, and this file with --against")
	}

	return nil
}

func deriveServer(s results.Server) (map[string]any, error) {
	if len(s.Argv) == 0 {
		return map[string]any{"launcher": "external", "base-url": s.BaseURL, "model": s.Model}, nil
	}

	env := map[string]any{}
	for name, value := range s.Env {
		if !strings.HasPrefix(name, "BENCH_") {
			env[name] = value
		}
	}

	server := map[string]any{"env": env}
	if s.Simulated {
		return server, simulatorOf(s, server)
	}

	base, err := url.Parse(s.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("address %q of its server: %w", s.BaseURL, err)
	}

	var command []string
	for i, word := range s.Argv {
		switch {
		case i > 0 && word == base.Port():
			word = "${port}"
		case i > 0 && word == base.Hostname():
			word = "${host}"
		case i > 0 && base.Port() != "" && strings.HasSuffix(word, "="+base.Port()):
			word = strings.TrimSuffix(word, base.Port()) + "${port}"
		case i > 0 && strings.HasSuffix(word, "="+base.Hostname()):
			word = strings.TrimSuffix(word, base.Hostname()) + "${host}"
		}
		command = append(command, word)
	}

	server["launcher"] = "command"
	server["command"] = command
	server["gpus"] = "none"
	server["model"] = s.Model
	server["served-name"] = s.Model
	if kind, known := engines.Lookup(s.Launcher); known && kind.Dialect != "" {
		server["api"] = kind.Dialect
	}

	return server, nil
}

// simulatorOf reads the arguments of the simulator back: only its own launcher
// marks figures as simulated.
func simulatorOf(s results.Server, server map[string]any) error {
	if len(s.Argv) < 2 || s.Argv[1] != "simulate" || s.Launcher != "simulator" {
		return errors.New("not known: how its simulator was started; give its scenario, and this file with --against")
	}

	server["launcher"] = "simulator"
	args := map[string]any{}
	for i := 2; i < len(s.Argv); i++ {
		name, value, joined := strings.Cut(strings.TrimPrefix(s.Argv[i], "--"), "=")
		if !joined && i+1 < len(s.Argv) && !strings.HasPrefix(s.Argv[i+1], "--") {
			i++
			value, joined = s.Argv[i], true
		}
		switch {
		case name == "host" || name == "port":
		case name == "model":
			server["model"] = value
		case name == "served-model-name":
			server["served-name"] = value
		case !joined:
			args[name] = true
		default:
			args[name] = value
		}
	}

	server["args"] = args
	return nil
}

func deriveLoad(r *results.Result) (map[string]any, error) {
	a := r.Asked
	dataset := map[string]any{"kind": a.Dataset, "seed": a.Seed, "vary": false}
	if a.DatasetPath != "" {
		dataset["path"] = a.DatasetPath
	}
	if strings.HasPrefix(a.Tokenizer, "/") {
		dataset["tokenizer"] = a.Tokenizer
	}

	endpoints := map[string]string{"/v1/completions": "completions", "/v1/chat/completions": "chat"}
	endpoint, known := endpoints[a.Endpoint]
	if !known {
		endpoint = a.Endpoint
	}

	point := map[string]any{"num-prompts": a.NumPrompts, "label": r.Step.Point}
	set := func(name string, value any, given bool) {
		if given {
			point[name] = value
		}
	}

	set("max-concurrency", a.MaxConcurrency, a.MaxConcurrency != nil)
	set("request-rate", a.RequestRate, a.RequestRate != nil)
	set("input-len", a.InputLen, a.InputLen != nil)
	set("output-len", a.OutputLen, a.OutputLen != nil)
	load := map[string]any{
		"endpoint": endpoint, "dataset": dataset, "ignore-eos": a.IgnoreEOS, "warmups": a.Warmups,
		"sweep": []any{point},
	}
	if a.RequestRate != nil && a.Burstiness != nil {
		load["burstiness"] = *a.Burstiness
	}
	if a.Temperature != nil {
		load["temperature"] = *a.Temperature
	}
	if a.Compat != "" {
		load["compat"] = a.Compat
	}
	if a.ReplaySpeed != nil && *a.ReplaySpeed != 1 {
		load["replay-speed"] = *a.ReplaySpeed
	}
	if a.SendForS != nil {
		load["duration"] = fmt.Sprintf("%gs", *a.SendForS)
	}

	body := map[string]any{}
	if err := json.Unmarshal([]byte(a.Body), &body); err != nil {
		return nil, fmt.Errorf("its request body: %w", err)
	}
	if _, text := body["prompt"].(string); !text && body["prompt"] != nil {
		dataset["tokens"] = "ids"
	}

	for _, usual := range []string{
		"model", "prompt", "messages", "max_tokens", "max_completion_tokens", "stream",
		"stream_options", "ignore_eos", "temperature", "n_predict", "cache_prompt",
	} {
		delete(body, usual)
	}

	if len(body) > 0 {
		load["body"] = body
	}

	return load, nil
}
