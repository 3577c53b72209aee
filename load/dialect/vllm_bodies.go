package dialect

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

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

// vllmTGI takes no sampling parameters: that client fixed them.
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

// pythonValue makes numbers look as Python writes them: a float keeps its
// point.
func pythonValue(v any) any {
	switch v := v.(type) {
	case float64:
		return json.RawMessage(PythonFloat(v))
	case json.Number:
		if f, err := v.Float64(); err == nil && strings.ContainsAny(string(v), ".eE") {
			return json.RawMessage(PythonFloat(f))
		}
	case map[string]any:
		m := make(map[string]any, len(v))
		for name, inner := range v {
			m[name] = pythonValue(inner)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, inner := range v {
			list[i] = pythonValue(inner)
		}
		return list
	}

	return v
}

// PythonFloat is Python's repr of a finite float.
func PythonFloat(f float64) string {
	if size := math.Abs(f); size != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// Respace turns compact JSON into the layout of Python's json.dumps: a space
// after each comma and colon, and nothing but printable ASCII in strings.
func Respace(compact []byte) []byte {
	out := make([]byte, 0, len(compact)+len(compact)/8)
	inString := false
	for i := 0; i < len(compact); {
		c := compact[i]
		switch {
		case inString && c == '\\':
			out = append(out, c, compact[i+1])
			i += 2
			continue
		case inString && c >= 0x7f:
			r, size := utf8.DecodeRune(compact[i:])
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, "\\u%04x", unit)
			}
			i += size
			continue
		}
		out = append(out, c)
		inString = inString != (c == '"')
		if !inString && (c == ',' || c == ':') {
			out = append(out, ' ')
		}
		i++
	}

	return out
}
