package load

// tgi is text-generation-inference's own API: one event a token, and the whole
// text with the last. It cannot be told to ignore the end of text, so the
// answers' lengths cannot be forced.
type tgi struct{}

var tgiNames = aliases{"min_p": "", "presence_penalty": ""}

func (tgi) fields(o *common, a ask) ([]field, error) {
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

func (tgi) parse(data []byte, c *chunk) error {
	c.reset()
	if isDone(data) {
		c.done = true
		return nil
	}
	return walk(data, func(name, value []byte) {
		switch string(name) {
		case "token":
			c.choices = true
			c.content = tgiToken(c.content[:0], value)
		case "generated_text":
			if value[0] == '"' {
				c.choices, c.last = true, true
				c.whole = appendText([]byte{}, value)
			}
		case "details":
			tgiDetails(value, c)
		case "error":
			c.fault = faultValue(value)
		}
	})
}

// parseWhole reads an answer of /generate.
func (t tgi) parseWhole(data []byte, c *chunk) error {
	err := t.parse(data, c)
	c.content = append(c.content[:0], c.whole...)
	return err
}

// tgiToken appends the token's text. Special tokens have none in the answer.
func tgiToken(dst, value []byte) []byte {
	special := false
	inside(value, func(name, value []byte) {
		switch string(name) {
		case "text":
			dst = appendText(dst[:0], value)
		case "special":
			special = string(value) == "true"
		}
	})
	if special {
		return dst[:0]
	}
	return dst
}

func tgiDetails(value []byte, c *chunk) {
	inside(value, func(name, value []byte) {
		switch string(name) {
		case "finish_reason":
			c.finish = appendText(nil, value)
		case "generated_tokens":
			c.usage.output = countOf(value)
		case "input_length":
			c.usage.input = countOf(value)
		}
	})
}
