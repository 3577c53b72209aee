package dialect

import (
	"strings"

	"github.com/benchrig/bench/load/dialect/event"
	"github.com/benchrig/bench/load/dialect/rawjson"
)

// ollama is Ollama's own API, /api/generate or with chat /api/chat. It streams
// JSON lines; the last says "done". /api/generate is asked to leave the prompt
// as it is ("raw") unless there are images. There is no way to ignore the end
// of text.
type ollama struct{ chat bool }

func (d ollama) fields(o *Common, a Ask) ([]field, error) {
	f := []field{{"model", o.Model}}
	switch images := bareImages(a.Images); {
	case d.chat:
		f = append(f, field{"messages", ollamaMessages(a)})
	case len(images) > 0:
		f = append(f, field{"prompt", a.joined()}, field{"images", images})
	default:
		f = append(f, field{"prompt", a.joined()}, field{"raw", true})
	}
	options := limitField(nil, "num_predict", a)
	sampling, err := samplingFields(o.Sampling, llamaCPPNames) // which Ollama runs
	return append(f, field{"stream", !o.NoStream}, field{"options", append(options, sampling...)}), err
}

// ollamaMessage is a message as Ollama takes it.
type ollamaMessage struct {
	Role    string   `json:"role"`
	Content any      `json:"content"`
	Images  []string `json:"images,omitempty"`
}

func ollamaMessages(a Ask) []ollamaMessage {
	said := make([]ollamaMessage, 0, 1+2*len(a.Answers))
	for _, m := range a.messages(false) {
		said = append(said, ollamaMessage{Role: m.Role, Content: m.Content})
	}
	said[0].Images = bareImages(a.Images)
	return said
}

// bareImages strips data URLs down to their base64 text.
func bareImages(urls []string) []string {
	var images []string
	for _, url := range urls {
		if _, encoded, ok := strings.Cut(url, ";base64,"); ok {
			url = encoded
		}
		images = append(images, url)
	}
	return images
}

func (ollama) Parse(data []byte, c *event.Chunk) error {
	c.Reset()

	return rawjson.Walk(data, func(name, value []byte) {
		switch string(name) {
		case "response":
			c.Choices = true
			c.Content = rawjson.AppendText(c.Content[:0], value)
		case "thinking":
			c.Reasoning = rawjson.AppendText(c.Reasoning[:0], value)
		case "message":
			c.Choices = true
			ollamaSaid(value, c)
		case "done":
			c.Last = string(value) == "true"
		case "done_reason":
			c.Finish = rawjson.AppendText(nil, value)
		case "prompt_eval_count":
			c.Usage.Input = rawjson.Count(value)
		case "eval_count":
			c.Usage.Output = rawjson.Count(value)
		case "error":
			c.Fault = event.FaultValue(value)
		}
	})
}

func ollamaSaid(value []byte, c *event.Chunk) {
	rawjson.Inside(value, func(name, value []byte) {
		switch string(name) {
		case "content":
			c.Content = rawjson.AppendText(c.Content[:0], value)
		case "thinking":
			c.Reasoning = rawjson.AppendText(c.Reasoning[:0], value)
		case "tool_calls":
			c.Tool = rawjson.IsFilled(value, '[')
		}
	})
}
