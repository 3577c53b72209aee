package dialect

// llamaCPP is llama-server's own /completion API. Its stream has no end mark:
// the last event says "stop".
type llamaCPP struct{}

var llamaCPPNames = aliases{"repetition_penalty": "repeat_penalty"}

func (llamaCPP) fields(o *Common, a Ask) ([]field, error) {
	f := limitField([]field{{"prompt", a.textOrIDs()}}, "n_predict", a)
	f = append(f, field{"stream", !o.NoStream})
	sampling, err := samplingFields(o.Sampling, llamaCPPNames)
	f = append(f, sampling...)
	if o.IgnoreEOS {
		f = append(f, field{"ignore_eos", true})
	}
	return f, err
}

func (llamaCPP) Parse(data []byte, c *Chunk) error {
	if !c.begin(data) {
		return nil
	}

	return walk(data, func(name, value []byte) {
		switch string(name) {
		case "content":
			c.Choices = true
			c.Content = appendText(c.Content[:0], value)
		case "stop":
			c.Last = string(value) == "true"
		case "stop_type":
			c.Finish = appendText(nil, value)
		case "stopped_eos", "stopped_limit", "stopped_word": // of servers before 2025
			if string(value) == "true" {
				c.Finish = append([]byte(nil), name[len("stopped_"):]...)
			}
		case "tokens_predicted":
			c.Usage.Output = countOf(value)
		case "tokens_evaluated":
			c.Usage.Input = countOf(value)
		case "timings":
			llamaTimings(value, &c.Timings, &c.Drafts)
		case "error":
			c.Fault = FaultValue(value)
		}
	})
}

func llamaTimings(value []byte, t *TokenCounts, d *DraftCounts) {
	prompt := -1
	inside(value, func(name, value []byte) {
		switch string(name) {
		case "prompt_n":
			prompt = countOf(value)
		case "cache_n":
			t.Cached = countOf(value)
		case "predicted_n":
			t.Output = countOf(value)
		case "draft_n":
			d.Tokens = max(countOf(value), 0)
		case "draft_n_accepted":
			d.Accepted = max(countOf(value), 0)
		}
	})

	t.Input = promptLength(prompt, t.Cached)
}
