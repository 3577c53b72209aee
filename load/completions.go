package load

// completions is the /v1/completions API.
type completions struct{ openAIStream }

func (completions) fields(o *Options, p Prompt) ([]field, error) {
	if err := checkPrompt(p); err != nil {
		return nil, err
	}
	var prompt any = p.Text
	if len(p.TokenIDs) > 0 {
		prompt = p.TokenIDs
	}
	return append([]field{{"model", o.Target.Model}, {"prompt", prompt}}, common(o, p, "max_tokens")...), nil
}
