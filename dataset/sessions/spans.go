package sessions

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/benchrig/bench/dataset/table"
)

// spansFile is one export of OpenTelemetry's OTLP in JSON, as the collector's
// file exporter writes it, one per line.
type spansFile struct {
	Resources []struct {
		Scopes []struct {
			Spans []span `json:"spans"`
		} `json:"scopeSpans"`
	} `json:"resourceSpans"`
}

type span struct {
	Trace      string      `json:"traceId"`
	Start      json.Number `json:"startTimeUnixNano"` // JSON texts, as protobuf's 64-bit numbers are
	End        json.Number `json:"endTimeUnixNano"`
	Attributes []struct {
		Key   string `json:"key"`
		Value struct {
			Text  *string      `json:"stringValue"`
			Whole *json.Number `json:"intValue"`
		} `json:"value"`
	} `json:"attributes"`
}

// Names of the semantic conventions for generative AI.
const (
	attrConversation = "gen_ai.conversation.id"
	attrInput        = "gen_ai.usage.input_tokens"
	attrOutput       = "gen_ai.usage.output_tokens"
	attrOldInput     = "gen_ai.usage.prompt_tokens"     // until 2024
	attrOldOutput    = "gen_ai.usage.completion_tokens" // until 2024
)

// readSpans reads the calls of models among the spans: those with token counts.
// A session is a conversation where spans name one, else a trace.
func readSpans(value json.RawMessage) ([]call, int, error) {
	var file spansFile
	if err := json.Unmarshal(value, &file); err != nil {
		return nil, 0, table.JSONError(err)
	}

	var calls []call
	for _, resource := range file.Resources {
		for _, scope := range resource.Scopes {
			for _, s := range scope.Spans {
				c, ok, err := s.call()
				if err != nil {
					return nil, 0, fmt.Errorf("span %d: %w", len(calls)+1, err)
				}
				if ok {
					calls = append(calls, c)
				}
			}
		}
	}

	return calls, 0, nil
}

// call is the span as a call; ok is false for a span without token counts.
func (s *span) call() (c call, ok bool, err error) {
	c.session, c.grown = s.Trace, true
	for _, a := range s.Attributes {
		switch a.Key {
		case attrConversation:
			if a.Value.Text != nil {
				c.session = *a.Value.Text
			}
		case attrInput, attrOldInput:
			c.input, ok = integerOf(a.Value.Whole), true
		case attrOutput, attrOldOutput:
			c.output = integerOf(a.Value.Whole)
		}
	}
	if !ok {
		return call{}, false, nil
	}

	start, err := strconv.ParseInt(s.Start.String(), 10, 64)
	if err != nil {
		return call{}, false, fmt.Errorf("startTimeUnixNano %q is not an integer", s.Start)
	}
	end, err := strconv.ParseInt(s.End.String(), 10, 64)
	if err != nil {
		return call{}, false, fmt.Errorf("endTimeUnixNano %q is not an integer", s.End)
	}

	c.startS, c.endS = float64(start)/1e9, new(float64(end)/1e9)
	return c, true, c.check()
}

// integerOf is n as an integer; -1 if n is nil or not an integer.
func integerOf(n *json.Number) int {
	if n == nil {
		return -1
	}
	value, err := strconv.Atoi(n.String())
	if err != nil {
		return -1
	}
	return value
}
