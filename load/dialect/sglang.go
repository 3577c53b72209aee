package dialect

// sglang is SGLang's own /generate API. Its events repeat all of the text so
// far; a server started to stream only what is new is recognized by the first
// event that does not continue the one before.
type sglang struct{}

var sglangNames = aliases{"seed": "sampling_seed"}

func (sglang) fields(o *Common, a Ask) ([]field, error) {
	prompt := field{"text", a.joined()}
	if len(a.TokenIDs) > 0 {
		prompt = field{"input_ids", a.TokenIDs}
	}
	params := limitField(nil, "max_new_tokens", a)
	sampling, err := samplingFields(o.Sampling, sglangNames)
	params = append(params, sampling...)
	if o.IgnoreEOS {
		params = append(params, field{"ignore_eos", true})
	}
	return []field{prompt, {"sampling_params", params}, {"stream", !o.NoStream}}, err
}

func (sglang) Parse(data []byte, c *Chunk) error {
	if !c.begin(data) {
		return nil
	}

	return walk(data, func(name, value []byte) {
		switch string(name) {
		case "text":
			c.Choices, c.Sofar = true, true
			c.Content = appendText(c.Content[:0], value)
		case "meta_info":
			sglangMeta(value, c)
		case "error":
			c.Fault = FaultValue(value)
		}
	})
}

func sglangMeta(value []byte, c *Chunk) {
	inside(value, func(name, value []byte) {
		switch string(name) {
		case "prompt_tokens":
			c.Usage.Input = countOf(value)
		case "completion_tokens":
			c.Usage.Output = countOf(value)
		case "cached_tokens":
			c.Usage.Cached = countOf(value)
		case "spec_draft_token_num":
			c.Drafts.Tokens = max(countOf(value), 0)
		case "spec_accept_token_num":
			c.Drafts.Accepted = max(countOf(value), 0)
		case "spec_verify_ct":
			c.Drafts.Steps = max(countOf(value), 0)
		case "finish_reason":
			c.Finish = sglangFinish(value)
			if string(c.Finish) == "abort" {
				c.Fault = value
			}
		}
	})
}

// sglangFinish reads {"type": ...}, or a plain string of older servers.
func sglangFinish(value []byte) []byte {
	finish := appendText(nil, value)
	inside(value, func(name, value []byte) {
		if string(name) == "type" {
			finish = appendText(nil, value)
		}
	})
	return finish
}
