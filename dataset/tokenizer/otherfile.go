package tokenizer

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// tiktokenLine begins a file of tiktoken: a token in base64, and its rank.
var tiktokenLine = regexp.MustCompile(`^[A-Za-z0-9+/]+={0,2} [0-9]+\r?\n`)

// otherFile names the kind of a file that is not a tokenizer.json, and says what
// to name in its place; "" where it is not known.
func otherFile(data []byte) string {
	const instead = "name the tokenizer.json of the same model, or a folder that holds one"
	text := bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\uFEFF")), " \t\r\n")
	switch {
	case len(text) == 0:
		return "the file is empty: " + instead
	case bytes.HasPrefix(text, []byte("version https://git-lfs")):
		return "it is a Git LFS pointer, not the file itself: fetch the file with git lfs pull"
	case bytes.HasPrefix(text, []byte("<")):
		return "it is a web page: download the file itself, with its raw address"
	case bytes.HasPrefix(data, []byte("GGUF")):
		return "it is a GGUF file: give it a name that ends in .gguf"
	case tiktokenLine.Match(data):
		return "it is a vocabulary of tiktoken, which does not say how text is split: " + instead
	case bytes.HasPrefix(data, []byte{0x0a}) && bytes.Contains(data[:min(len(data), 64)], []byte("<unk>")):
		return "it is a SentencePiece model: " + instead
	}

	var keys map[string]json.RawMessage
	if json.Unmarshal(data, &keys) != nil {
		return ""
	}

	has := func(name string) bool { return keys[name] != nil }
	switch {
	case has("config") && has("vocab"):
		return "it is Mistral's tekken.json: " + instead
	case has("tokenizer_class"):
		return "it is a tokenizer_config.json: " + instead
	case has("model_type") || has("architectures"):
		return "it is a model's config.json: " + instead
	case !has("model"):
		return "it is not a tokenizer.json, which has a \"model\": " + instead
	}

	return ""
}
