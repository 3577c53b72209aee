package dialect

import (
	"fmt"

	"github.com/benchrig/bench/load/spec"
)

// vllmFields lists the body that a version of vLLM's client sends.
func vllmFields(api API, o *Common, a Ask) ([]field, error) {
	switch o.Compat {
	case spec.CompatVLLM, spec.CompatVLLM010, spec.CompatVLLM06:
	default:
		return nil, fmt.Errorf("choose bodies: got %q, want %s, %s or %s", o.Compat, spec.CompatVLLM,
			spec.CompatVLLM010, spec.CompatVLLM06)
	}

	var f []field
	switch {
	case api.Numbers:
		return vllmNumbers(o, api, a)
	case o.NoStream:
		return nil, fmt.Errorf("choose bodies: vLLM's client always streams; leave bodies %q out", o.Compat)
	case api.Name == "completions":
		f = vllmCompletions(o, a)
	case api.Name == "chat":
		f = vllmChat(o, a)
	case api.Name == "tgi" && o.Compat != spec.CompatVLLM:
		return vllmTGI(o, a), nil
	default:
		return nil, fmt.Errorf("choose bodies: vLLM's client of version %q has no %s API", o.Compat, api.Name)
	}

	sampling, err := samplingFields(o.Sampling, nil)
	for _, s := range sampling {
		f = set(f, s)
	}

	return f, err
}

func vllmCompletions(o *Common, a Ask) []field {
	f := []field{{"model", o.Model}, {"prompt", a.textOrIDs()}}
	switch o.Compat {
	case spec.CompatVLLM06:
		f = append(f, field{"temperature", 0.0}, field{"best_of", 1})
	case spec.CompatVLLM010:
		f = append(f, field{"temperature", 0.0}, field{"repetition_penalty", 1.0})
	default:
		f = append(f, field{"repetition_penalty", 1.0})
	}
	f = limitField(f, "max_tokens", a)
	return vllmTail(o, append(f, field{"logprobs", nil}))
}

func vllmChat(o *Common, a Ask) []field {
	f := []field{{"model", o.Model}, {"messages", a.messages(true)}}
	if o.Compat != spec.CompatVLLM {
		f = append(f, field{"temperature", 0.0})
	}
	return vllmTail(o, limitField(f, "max_completion_tokens", a))
}

func vllmTail(o *Common, f []field) []field {
	f = append(f, field{"stream", true})
	if o.Compat == spec.CompatVLLM06 {
		return append(f, field{"ignore_eos", o.IgnoreEOS})
	}
	f = append(f, field{"stream_options", []field{{"include_usage", true}}})
	if o.IgnoreEOS {
		f = append(f, field{"ignore_eos", true})
	}
	return f
}

// vllmNumbers asks the server to cut prompts that are too long, as vLLM's client
// does so that none fails. Older versions had no such API.
func vllmNumbers(o *Common, api API, a Ask) ([]field, error) {
	if o.Compat != spec.CompatVLLM || api.Name == "score" {
		return nil, fmt.Errorf("choose bodies: vLLM's client of version %q has no %s API", o.Compat, api.Name)
	}
	f, err := api.codec.fields(o, a)
	cut := field{"truncate_prompt_tokens", -1}
	if api.Name == "pooling" && err == nil {
		return []field{f[0], cut, f[1]}, nil
	}
	return append(f, cut), err
}

// vllmTGI takes no sampling parameters: vLLM's client fixed them.
func vllmTGI(o *Common, a Ask) []field {
	var f []field
	if o.Compat == spec.CompatVLLM06 {
		f = append(f, field{"best_of", 1})
	}
	f = limitField(f, "max_new_tokens", a)
	f = append(f, field{"do_sample", true}, field{"temperature", 0.01}, field{"top_p", 0.99})
	if a.InputTokens > 0 {
		f = append(f, field{"truncate", a.InputTokens})
	}
	if o.Compat == spec.CompatVLLM010 {
		f = append(f, field{"ignore_eos_token", o.IgnoreEOS})
	}
	return []field{{"inputs", a.joined()}, {"parameters", f}}
}
