package dataset

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const chatRow = `{"conversations":[{"from":"human","value":"What is the capital of France, please?"},` +
	`{"from":"gpt","value":"The capital of France is Paris, of course."}]}`

// A file of another kind is named as what it is, with the kind that reads it.
func TestFilesOfOtherKinds(t *testing.T) {
	const messages = `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`
	const lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:35f0\nsize 672949123\n"
	for _, c := range []struct{ name, kind, content, want string }{
		{
			"lines for sharegpt", "sharegpt", chatRow + "\n" + chatRow,
			"JSON lines of conversations, which kind hf reads",
		},
		{"lines for jsonl", "jsonl", chatRow, "JSON lines of conversations, which kind hf reads"},
		{"messages for sharegpt", "sharegpt", "[" + messages + "]", "a JSON array of objects, which kind hf reads"},
		{"conversations for trace", "trace", "[" + chatRow + "]", "which kind sharegpt reads"},
		{
			"trace for jsonl", "jsonl", `{"timestamp":0,"input_length":1,"output_length":1,"hash_ids":[]}`,
			"a trace of requests, which kind trace reads",
		},
		{"LFS pointer", "sharegpt", lfs, "a Git LFS pointer, not the file itself: fetch the file with git lfs pull"},
		{"LFS pointer", "hf", lfs, "git lfs pull"},
		{"LFS pointer", "trace", lfs, "git lfs pull"},
		{"web page", "hf", "<!DOCTYPE html><html>", "a web page"},
		{"gzip", "jsonl", "\x1f\x8b\x08\x00", "unpack it with gunzip"},
	} {
		_, err := Build(t.Context(), Spec{Kind: c.kind, Path: writeFile(t, c.content), N: 1}, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: %v, want %q", c.name, c.kind, err, c.want)
		}
	}
}

// Byte order marks and blank lines before the text are not part of it.
func TestBlankBeginnings(t *testing.T) {
	for _, begin := range []string{"\uFEFF", "\n\n", "\uFEFF\r\n ", ""} {
		for kind, content := range map[string]string{
			"sharegpt": "[" + chatRow + "," + chatRow + "]", "hf": "[" + chatRow + "]",
			"jsonl": `{"prompt": "a b"}` + "\n",
		} {
			set, err := Build(t.Context(), Spec{Kind: kind, Path: writeFile(t, begin+content), N: 1}, nil)
			if err != nil || len(set.Prompts) != 1 || set.Prompts[0].Text == "" {
				t.Errorf("kind %s behind %q: %v, %v", kind, begin, set, err)
			}
		}
	}
	lines := "\n\n" + chatRow + "\n" + chatRow + "\n"
	if _, err := Build(t.Context(), Spec{Kind: "hf", Path: writeFile(t, lines), N: 2}, nil); err != nil {
		t.Errorf("JSON lines behind blank ones: %v", err)
	}
}

// What describes a dataset is not read as its rows.
func TestHFFolderWithDescription(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"data.jsonl":                    chatRow + "\n",
		"dataset_infos.json":            "{\n  \"default\": {\n    \"description\": \"x\"\n  }\n}\n",
		".cache/huggingface/other.json": `{"text": "not a row"}`,
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set, err := Build(t.Context(), Spec{Kind: "hf", Path: folder, N: 1}, nil)
	if err != nil || !strings.Contains(set.Prompts[0].Text, "capital of France") {
		t.Errorf("prompts %+v, %v, want that of data.jsonl", set, err)
	}
}

// What an instruction is about is in a column of its own.
func TestInstructionWithInput(t *testing.T) {
	rows := `[{"instruction":"Give three tips for staying healthy.","input":""},` +
		`{"instruction":"Classify this text, please.","input":"The movie was great."}]`
	set := build(t, Spec{Kind: "hf", Path: writeFile(t, rows), N: 2, OutputLen: 8}, nil)
	if got, want := set.Prompts[1].Text, "Classify this text, please.\n\nThe movie was great."; got != want {
		t.Errorf("prompt %q, want %q", got, want)
	}
	if got, want := set.Prompts[0].Text, "Give three tips for staying healthy."; got != want || !noteWith(set,
		`column "input"`) {
		t.Errorf("prompt %q, notes %q, want %q and a note", got, set.Notes, want)
	}
}
