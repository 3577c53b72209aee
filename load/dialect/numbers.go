package dialect

import (
	"errors"

	"github.com/benchrig/bench/load/dialect/event"
	"github.com/benchrig/bench/load/dialect/rawjson"
)

// numbers reads the answers of APIs that return numbers, not text: embeddings and
// scores. They are never streamed, and have no output tokens.
type numbers struct{}

// Parse reads a whole answer. It skips the numbers themselves.
func (numbers) Parse(data []byte, c *event.Chunk) error {
	if !c.Begin(data) {
		return nil
	}
	return rawjson.Walk(data, func(name, value []byte) {
		switch string(name) {
		case "data", "results":
			c.Numbers = rawjson.IsFilled(value, '[')
		case "usage":
			rawjson.Inside(value, func(name, value []byte) {
				if string(name) == "prompt_tokens" {
					c.Usage.Input = rawjson.Count(value)
				}
			})
		case "error":
			c.Fault = event.FaultValue(value)
		}
	})
}

// texts returns the prompt and the texts that go with it in one request.
func (a Ask) texts() any {
	switch {
	case len(a.TokenIDs) > 0:
		return a.TokenIDs
	case len(a.Texts) == 0:
		return a.Text
	}
	return append([]string{a.Text}, a.Texts...)
}

// errNoDocuments refuses a prompt that is a query alone.
var errNoDocuments = errors.New("encode prompt: a query has nothing to be compared with: " +
	"use dataset random_rerank, or jsonl with \"documents\"")

// embeddings is the /v1/embeddings API, and vLLM's /pooling, which
// takes the same.
type embeddings struct{ numbers }

func (embeddings) fields(o *Common, a Ask) ([]field, error) {
	return []field{{"model", o.Model}, {"input", a.texts()}}, nil
}

// rerank is the /v1/rerank API of Jina and Cohere, which vLLM, SGLang and
// llama-server have: the prompt is a query, the texts with it are documents.
type rerank struct{ numbers }

func (rerank) fields(o *Common, a Ask) ([]field, error) {
	if len(a.Texts) == 0 {
		return nil, errNoDocuments
	}
	return []field{{"model", o.Model}, {"query", a.Text}, {"documents", a.Texts}}, nil
}

// score is vLLM's /score: the same without an order.
type score struct{ numbers }

func (score) fields(o *Common, a Ask) ([]field, error) {
	if len(a.Texts) == 0 {
		return nil, errNoDocuments
	}
	return []field{{"model", o.Model}, {"text_1", a.Text}, {"text_2", a.Texts}}, nil
}
