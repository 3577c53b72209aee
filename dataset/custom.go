package dataset

import "context"

// buildCustom is vLLM's custom dataset: a file of JSON lines, see buildJSONL.
func buildCustom(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error) {
	if spec.Compat == CompatVLLM010 {
		spec.Seed = 0 // that version never passed the seed on
	}
	set, err := buildJSONL(ctx, spec, tok)
	if err != nil {
		return nil, err
	}
	set.Notes = append(set.Notes, "prompts are sent as they are: vLLM's client puts the model's chat template around "+
		"them unless --skip-chat-template")
	return set, nil
}
