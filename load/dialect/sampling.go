package dialect

import (
	"fmt"

	"github.com/benchrig/bench/load/spec"
)

// aliases are an API's own names of sampling parameters; "" where it has none.
type aliases map[string]string

// samplingFields lists what is set, in the order of vLLM's client.
func samplingFields(s spec.Sampling, names aliases) ([]field, error) {
	all := []field{
		{"top_p", deref(s.TopP)},
		{"top_k", deref(s.TopK)},
		{"min_p", deref(s.MinP)},
		{"temperature", deref(s.Temperature)},
		{"frequency_penalty", deref(s.FrequencyPenalty)},
		{"presence_penalty", deref(s.PresencePenalty)},
		{"repetition_penalty", deref(s.RepetitionPenalty)},
		{"seed", deref(s.Seed)},
		{"stop", list(s.Stop)},
	}

	var set []field
	for _, f := range all {
		if f.value == nil {
			continue
		}
		if alias, ok := names[f.name]; ok {
			if alias == "" {
				return nil, fmt.Errorf("encode sampling parameters: the API has no %s; leave it out", f.name)
			}
			f.name = alias
		}
		set = append(set, f)
	}

	return set, nil
}

// appendSampling appends the sampling parameters that are set, and ignore_eos.
func appendSampling(f []field, o *Common, names aliases) ([]field, error) {
	sampling, err := samplingFields(o.Sampling, names)
	f = append(f, sampling...)
	if o.IgnoreEOS {
		f = append(f, field{"ignore_eos", true})
	}
	return f, err
}

// list returns texts as the value of a field, nil if there are none.
func list(texts []string) any {
	if len(texts) == 0 {
		return nil
	}
	return texts
}

// deref returns the value that p points to, nil without one.
func deref[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}
