package tokenizer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file of another kind is named as what it is.
func TestFilesOfOtherKinds(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"tekken.json":           {`{"config":{"pattern":"x"},"vocab":[{"rank":0}]}`, "Mistral's tekken.json"},
		"tiktoken.model":        {"IQ== 0\nIg== 1\n", "a vocabulary of tiktoken"},
		"tokenizer.model":       {"\n\x0e\n\x05<unk>\x15\x00", "a SentencePiece model"},
		"tokenizer.json":        {"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"},
		"page.json":             {"<!DOCTYPE html>", "a web page"},
		"tokenizer_config.json": {`{"tokenizer_class": "X"}`, "a tokenizer_config.json"},
		"config.json":           {`{"model_type": "llama"}`, "a model's config.json"},
		"empty.json":            {"", "the file is empty"},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want its name and %q", name, err, c.want)
		}
	}
}
