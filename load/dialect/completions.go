package dialect

import "github.com/benchrig/bench/load/dialect/event"

// openAI is how the answers of completions and chat are read.
type openAI struct{}

// Parse implements codec.
func (openAI) Parse(data []byte, c *event.Chunk) error { return event.ParseOpenAI(data, c) }

func (openAI) parseWhole(data []byte, c *event.Chunk) error { return event.ParseOpenAIWhole(data, c) }

// completions is the /v1/completions API.
type completions struct{ openAI }

func (completions) fields(o *Common, a Ask) ([]field, error) {
	rest, err := openAIFields(o, a, "max_tokens")
	return append([]field{{"model", o.Model}, {"prompt", a.textOrIDs()}}, rest...), err
}

// textOrIDs returns the prompt as APIs without messages take it.
func (a Ask) textOrIDs() any {
	if len(a.TokenIDs) > 0 {
		return a.TokenIDs
	}
	return a.joined()
}

// openAIFields lists the fields that both OpenAI APIs have after the prompt.
func openAIFields(o *Common, a Ask, limits ...string) ([]field, error) {
	var f []field
	for _, name := range limits {
		f = limitField(f, name, a)
	}
	f = append(f, field{"stream", !o.NoStream})
	if !o.NoStream {
		f = append(f, field{"stream_options", []field{{"include_usage", true}}})
	}
	return appendSampling(f, o, nil)
}

// limitField appends the output limit under its name, if there is one.
func limitField(f []field, name string, a Ask) []field {
	if n := a.wanted(); n > 0 {
		f = append(f, field{name, n})
	}
	return f
}
