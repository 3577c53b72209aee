package dialect

import (
	"bytes"

	"github.com/benchrig/bench/load/dialect/event"
	"github.com/benchrig/bench/load/dialect/rawjson"
)

// llamaCPP is llama-server's own /completion API. Its stream has no end mark:
// the last event says "stop".
type llamaCPP struct{}

var llamaCPPNames = aliases{"repetition_penalty": "repeat_penalty"}

func (llamaCPP) fields(o *Common, a Ask) ([]field, error) {
	f := limitField([]field{{"prompt", a.textOrIDs()}}, "n_predict", a)
	return appendSampling(append(f, field{"stream", !o.NoStream}), o, llamaCPPNames)
}

func (llamaCPP) Parse(data []byte, c *event.Chunk) error {
	if !c.Begin(data) {
		return nil
	}

	return rawjson.Walk(data, func(name, value []byte) {
		switch string(name) {
		case "content":
			c.Choices = true
			c.Content = rawjson.AppendText(c.Content[:0], value)
		case "stop":
			c.Last = string(value) == "true"
		case "stop_type":
			c.Finish = rawjson.AppendText(nil, value)
		case "stopped_eos", "stopped_limit", "stopped_word": // of servers before 2025
			if string(value) == "true" {
				c.Finish = bytes.Clone(name[len("stopped_"):])
			}
		case "tokens_predicted":
			c.Usage.Output = rawjson.Count(value)
		case "tokens_evaluated":
			c.Usage.Input = rawjson.Count(value)
		case "timings":
			event.ReadTimings(value, c)
		case "error":
			c.Fault = event.FaultValue(value)
		}
	})
}
