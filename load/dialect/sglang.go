package dialect

import (
	"github.com/benchrig/bench/load/dialect/event"
	"github.com/benchrig/bench/load/dialect/rawjson"
)

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
	params, err := appendSampling(limitField(nil, "max_new_tokens", a), o, sglangNames)
	return []field{prompt, {"sampling_params", params}, {"stream", !o.NoStream}}, err
}

func (sglang) Parse(data []byte, c *event.Chunk) error {
	if !c.Begin(data) {
		return nil
	}

	return rawjson.Walk(data, func(name, value []byte) {
		switch string(name) {
		case "text":
			c.Choices, c.Sofar = true, true
			c.Content = rawjson.AppendText(c.Content[:0], value)
		case "meta_info":
			sglangMeta(value, c)
		case "error":
			c.Fault = event.FaultValue(value)
		}
	})
}

func sglangMeta(value []byte, c *event.Chunk) {
	rawjson.Inside(value, func(name, value []byte) {
		switch string(name) {
		case "prompt_tokens":
			c.Usage.Input = rawjson.Count(value)
		case "completion_tokens":
			c.Usage.Output = rawjson.Count(value)
		case "cached_tokens":
			c.Usage.Cached = rawjson.Count(value)
		case "spec_draft_token_num":
			c.Drafts.Tokens = max(rawjson.Count(value), 0)
		case "spec_accept_token_num":
			c.Drafts.Accepted = max(rawjson.Count(value), 0)
		case "spec_verify_ct":
			c.Drafts.Steps = max(rawjson.Count(value), 0)
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
	finish := rawjson.AppendText(nil, value)
	rawjson.Inside(value, func(name, value []byte) {
		if string(name) == "type" {
			finish = rawjson.AppendText(nil, value)
		}
	})
	return finish
}
