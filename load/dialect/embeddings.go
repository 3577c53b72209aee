package dialect

// embeddings is the /v1/embeddings API, and vLLM's /pooling, which
// takes the same.
type embeddings struct{ numbers }

func (embeddings) fields(o *Common, a Ask) ([]field, error) {
	return []field{{"model", o.Model}, {"input", a.texts()}}, nil
}
