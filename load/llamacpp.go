package load

// llamaCPP is llama-server's own /completion API. Its stream has no end mark:
// the last event says "stop".
type llamaCPP struct{}

var llamaCPPNames = aliases{"repetition_penalty": "repeat_penalty"}

func (llamaCPP) fields(o *common, a ask) ([]field, error) {
	f := limitField([]field{{"prompt", a.textOrIDs()}}, "n_predict", a)
	f = append(f, field{"stream", !o.NoStream})
	sampling, err := samplingFields(o.Sampling, llamaCPPNames)
	f = append(f, sampling...)
	if o.IgnoreEOS {
		f = append(f, field{"ignore_eos", true})
	}
	return f, err
}

func (llamaCPP) parse(data []byte, c *chunk) error {
	c.reset()
	if isDone(data) { // of a proxy
		c.done = true
		return nil
	}
	return walk(data, func(name, value []byte) {
		switch string(name) {
		case "content":
			c.choices = true
			c.content = appendText(c.content[:0], value)
		case "stop":
			c.last = string(value) == "true"
		case "stop_type":
			c.finish = appendText(nil, value)
		case "stopped_eos", "stopped_limit", "stopped_word": // of servers before 2025
			if string(value) == "true" {
				c.finish = append([]byte(nil), name[len("stopped_"):]...)
			}
		case "tokens_predicted":
			c.usage.output = countOf(value)
		case "tokens_evaluated":
			c.usage.input = countOf(value)
		case "timings":
			llamaTimings(value, &c.timings, &c.drafts)
		case "error":
			c.fault = faultValue(value)
		}
	})
}

func llamaTimings(value []byte, t *tokenCounts, d *draftCounts) {
	prompt := -1
	inside(value, func(name, value []byte) {
		switch string(name) {
		case "prompt_n":
			prompt = countOf(value)
		case "cache_n":
			t.cached = countOf(value)
		case "predicted_n":
			t.output = countOf(value)
		case "draft_n":
			d.tokens = max(countOf(value), 0)
		case "draft_n_accepted":
			d.accepted = max(countOf(value), 0)
		}
	})
	t.input = promptLength(prompt, t.cached)
}
