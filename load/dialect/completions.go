package dialect

// completions is the /v1/completions API.
type completions struct{ OpenAIStream }

func (completions) fields(o *Common, a Ask) ([]field, error) {
	rest, err := openAIFields(o, a, "max_tokens")
	return append([]field{{"model", o.Model}, {"prompt", a.textOrIDs()}}, rest...), err
}

// textOrIDs is the prompt as APIs without messages take it.
func (a Ask) textOrIDs() any {
	if len(a.TokenIDs) > 0 {
		return a.TokenIDs
	}
	return a.joined()
}

// openAIFields are the fields that both OpenAI APIs share after the prompt.
func openAIFields(o *Common, a Ask, limits ...string) ([]field, error) {
	var f []field
	for _, name := range limits {
		f = limitField(f, name, a)
	}
	f = append(f, field{"stream", !o.NoStream})
	if !o.NoStream {
		f = append(f, field{"stream_options", []field{{"include_usage", true}}})
	}
	sampling, err := samplingFields(o.Sampling, nil)
	f = append(f, sampling...)
	if o.IgnoreEOS {
		f = append(f, field{"ignore_eos", true})
	}
	return f, err
}

// limitField appends the output limit under its name, if there is one.
func limitField(f []field, name string, a Ask) []field {
	if n := a.wanted(); n > 0 {
		f = append(f, field{name, n})
	}
	return f
}
