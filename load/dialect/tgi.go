package dialect

import (
	"github.com/benchrig/bench/load/dialect/event"
	"github.com/benchrig/bench/load/dialect/rawjson"
)

// tgi is text-generation-inference's own API: one event a token, and the whole
// text with the last. It cannot be told to ignore the end of text, so the
// answers' lengths cannot be forced.
type tgi struct{}

var tgiNames = aliases{"min_p": "", "presence_penalty": ""}

func (tgi) fields(o *Common, a Ask) ([]field, error) {
	s := o.Sampling
	greedy := s.Temperature != nil && *s.Temperature == 0
	if greedy {
		s.Temperature = nil // it refuses 0
	}

	f := limitField(nil, "max_new_tokens", a)
	if s.Temperature != nil || greedy {
		f = append(f, field{"do_sample", !greedy})
	}

	sampling, err := samplingFields(s, tgiNames)
	f = append(f, sampling...)
	if o.NoStream {
		f = append(f, field{"details", true})
	}

	return []field{{"inputs", a.joined()}, {"parameters", f}}, err
}

func (tgi) Parse(data []byte, c *event.Chunk) error {
	if !c.Begin(data) {
		return nil
	}

	return rawjson.Walk(data, func(name, value []byte) {
		switch string(name) {
		case "token":
			c.Choices = true
			c.Content = tgiToken(c.Content[:0], value)
		case "generated_text":
			if value[0] == '"' {
				c.Choices, c.Last = true, true
				c.Whole = rawjson.AppendText([]byte{}, value)
			}
		case "details":
			tgiDetails(value, c)
		case "error":
			c.Fault = event.FaultValue(value)
		}
	})
}

// parseWhole reads an answer of /generate.
func (t tgi) parseWhole(data []byte, c *event.Chunk) error {
	err := t.Parse(data, c)
	c.Content = append(c.Content[:0], c.Whole...)
	return err
}

// tgiToken appends the token's text. Special tokens have none in the answer.
func tgiToken(dst, value []byte) []byte {
	special := false
	rawjson.Inside(value, func(name, value []byte) {
		switch string(name) {
		case "text":
			dst = rawjson.AppendText(dst[:0], value)
		case "special":
			special = string(value) == "true"
		}
	})
	if special {
		return dst[:0]
	}
	return dst
}

func tgiDetails(value []byte, c *event.Chunk) {
	rawjson.Inside(value, func(name, value []byte) {
		switch string(name) {
		case "finish_reason":
			c.Finish = rawjson.AppendText(nil, value)
		case "generated_tokens":
			c.Usage.Output = rawjson.Count(value)
		case "input_length":
			c.Usage.Input = rawjson.Count(value)
		}
	})
}
