package dialect

import (
	"encoding/json"
	"fmt"

	"github.com/benchrig/bench/dataset/audio"
	"github.com/benchrig/bench/load/dialect/event"
	"github.com/benchrig/bench/load/dialect/rawjson"
)

// transcriptions is the /v1/audio/transcriptions API: a WAV file goes as a form, its
// text comes back. vLLM streams it as chat completions are, OpenAI as typed events.
type transcriptions struct{}

func (transcriptions) fields(o *Common, a Ask) ([]field, error) {
	f := []field{{"model", o.Model}, {"response_format", "json"}}
	f = limitField(f, "max_completion_tokens", a) // vLLM's addition
	if !o.NoStream {
		f = append(f, field{"stream", true}, field{"stream_include_usage", true}) // the latter is vLLM's
	}
	sampling, err := samplingFields(o.Sampling, nil)
	return append(f, sampling...), err
}

// Parse fills c from the data of one event.
func (transcriptions) Parse(data []byte, c *event.Chunk) error {
	if err := event.ParseOpenAI(data, c); err != nil || c.Done || c.Choices || c.Fault != nil {
		return err
	}

	var kind, delta, usage []byte
	rawjson.Inside(data, func(name, value []byte) {
		switch string(name) {
		case "type":
			kind = rawjson.InQuotes(value)
		case "delta":
			delta = value
		case "usage":
			usage = value
		}
	})
	switch string(kind) {
	case "transcript.text.delta":
		c.Choices = true
		c.Content = rawjson.AppendText(c.Content[:0], delta)
	case "transcript.text.done": // its text came before
		c.Choices, c.Last = true, true
		c.Finish = []byte("stop")
		responsesUsage(usage, &c.Usage)
	}
	return nil
}

// parseWhole reads an answer that is not streamed.
func (transcriptions) parseWhole(data []byte, c *event.Chunk) error {
	c.Reset()
	return rawjson.Walk(data, func(name, value []byte) {
		switch string(name) {
		case "text":
			c.Choices = true
			c.Content = rawjson.AppendText(c.Content[:0], value)
		case "usage":
			responsesUsage(value, &c.Usage)
		case "error":
			c.Fault = event.FaultValue(value)
		}
	})
}

// ContentType returns the content type of the API's request bodies.
func (a API) ContentType() string {
	if a.Audio {
		return audio.FormType
	}
	return "application/json"
}

// encodeForm writes a WAV file and fields as a form.
func encodeForm(fields []field, wav []byte) ([]byte, error) {
	var texts [][2]string
	for _, f := range fields {
		more, err := formTexts(f.name, f.value)
		if err != nil {
			return nil, err
		}
		texts = append(texts, more...)
	}
	return audio.Form(wav, texts)
}

// formTexts returns the fields of the form for one member: a string as it is, none
// for null, one for each item of a list, JSON for all else.
func formTexts(name string, value any) (texts [][2]string, err error) {
	switch v := value.(type) {
	case nil:
		return nil, nil
	case string:
		return [][2]string{{name, v}}, nil
	case []any:
		for _, item := range v {
			more, err := formTexts(name, item)
			if err != nil {
				return nil, err
			}
			texts = append(texts, more...)
		}
		return texts, nil
	}

	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode form: field %q: %w", name, err)
	}
	return [][2]string{{name, string(text)}}, nil
}
