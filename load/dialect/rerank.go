package dialect

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
