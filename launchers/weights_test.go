package launchers

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWeightsOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, size := range map[string]int64{
		"one.gguf": 100, "b-00001-of-00002.gguf": 30, "b-00002-of-00002.gguf": 20, "b-00001-of-00003.gguf": 7,
		"hf/model-1.safetensors": 10, "hf/model-2.safetensors": 5, "hf/pytorch_model.bin": 50,
		"old/pytorch_model.bin": 8,
		"empty/config.json":     3,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for model, want := range map[string]int64{
		"": 0, "meta-llama/Llama-3.1-8B": 0, "one.gguf": 100, filepath.Join(dir, "one.gguf"): 100,
		"b-00001-of-00002.gguf": 50, "hf": 15, "old": 8, "empty": 0,
	} {
		if got := weightsOf(model, dir); got != want {
			t.Errorf("weightsOf(%q) = %d, want %d", model, got, want)
		}
	}
}
