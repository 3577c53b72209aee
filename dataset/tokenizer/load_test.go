package tokenizer

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writeFolder writes f as a tokenizer.json with what is beside it.
func writeFolder(t testing.TB, f object, beside map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	data, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{tokenizerFile: string(data)}
	maps.Copy(files, beside)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// smallFile has the model of three tokens and the given parts.
func smallFile(parts object) object {
	v := trained{tokens: []string{"<unk>", "a", "b", "ab"}, merges: []string{"a b"}}
	return file(modelOf(v, nil), nil, parts)
}

// grow is a rule that makes a text longer.
func grow(times int) object {
	return object{"type": "Replace", "pattern": object{"String": "a"}, "content": strings.Repeat("a", times)}
}

func TestLoadRefuses(t *testing.T) {
	model := func(key string, value any) object {
		v := trained{tokens: []string{"a", "b", "ab"}, merges: []string{"a b"}}
		return object{"model": modelOf(v, object{key: value})}
	}
	normal := func(n object) object { return object{"normalizer": n} }
	pre := func(p object) object { return object{"pre_tokenizer": p} }
	regex := func(expr string) object { return pre(splitOn(object{"Regex": expr}, "Isolated", false)) }
	deep := object{"type": "NFC"}
	for range 2 * maxDepth {
		deep = sequence("normalizers", deep)
	}
	tests := []struct {
		name  string
		parts object
		want  string
	}{
		{"unigram", object{"model": object{"type": "Unigram", "unk_id": 0, "vocab": [][]any{{"a", 0}}}}, "Unigram"},
		{"wordpiece", object{"model": object{
			"type": "WordPiece", "unk_token": "a", "max_input_chars_per_word": 9,
			"vocab": object{"a": 0},
		}}, "WordPiece"},
		{"dropout", model("dropout", 0.5), "dropout 0.5"},
		{"prefix", model("continuing_subword_prefix", "##"), `"##"`},
		{"suffix", model("end_of_word_suffix", "</w>"), `"</w>"`},
		{"unknown key", model("new_rule", true), "new_rule"},
		{"unknown token", model("unk_token", "zz"), `"zz"`},
		{"merge of no token", model("merges", []string{"b a"}), `"b" and "a"`},
		{"merge of three", model("merges", []string{"a b c"}), "a b c"},
		{"merge lists of three", model("merges", [][]string{{"a", "b", "c"}}), "two tokens"},
		{"id twice", model("vocab", object{"a": 0, "b": 1, "ab": 1}), "id 1"},
		{"id too high", model("vocab", object{"a": 1 << 40, "b": 1, "ab": 2}), "not in [0"},
		{"normalizer", normal(object{"type": "BertNormalizer"}), "BertNormalizer"},
		{"charsmap", normal(object{"type": "Precompiled", "precompiled_charsmap": ""}), "Precompiled"},
		{"inner normalizer", normal(sequence("normalizers", object{"type": "Nmt"})), "Nmt"},
		{"rules that multiply", normal(sequence("normalizers", grow(100), grow(100), grow(100))), "1e+06 times longer"},
		{"a pattern that matches nothing", normal(object{
			"type": "Replace", "pattern": object{"Regex": "x*"},
			"content": strings.Repeat("y", 64),
		}), "65 times longer"},
		{
			"a long text prepended", normal(object{"type": "Prepend", "prepend": strings.Repeat("y", 1<<20)}),
			"times longer",
		},
		{"a decoder that multiplies", object{"decoder": sequence("decoders", grow(9), grow(9))}, "81 times longer"},
		{"normalizer's key", normal(object{"type": "NFC", "fast": true}), "fast"},
		{"deep", normal(deep), "deep"},
		{"pre-tokenizer", pre(object{"type": "UnicodeScripts"}), "UnicodeScripts"},
		{"behaviour", pre(splitOn(object{"String": "a"}, "Dropped", false)), "Dropped"},
		{"empty pattern", pre(splitOn(object{"String": ""}, "Isolated", false)), "not empty"},
		{"possessive", regex(`a++`), "repeat of a repeat"},
		{"word class", regex(`\w+`), `\\w`},
		{"anchor", regex(`^a`), "anchor"},
		{"intersection", regex(`[a&&b]`), "intersection"},
		{"nested class", regex(`[a[b]]`), "class in a class"},
		{"posix class", regex(`[[:alpha:]]`), "class in a class"},
		{"named group", regex(`(?<x>a)`), "group"},
		{"open group", regex(`(a`), "regex"},
		{"property", regex(`\p{Foo}`), "Foo"},
		{"metaspace", pre(object{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "last"}), "last"},
		{"decoder", object{"decoder": object{"type": "CTC"}}, "CTC"},
		{
			"strip decoder",
			object{"decoder": object{"type": "Strip", "content": "ab", "start": 1, "stop": 0}},
			"one character",
		},
		{"post-processor", object{"post_processor": object{"type": "BertProcessing"}}, "BertProcessing"},
		{"template without ids", object{"post_processor": template([]string{"<s>"}, nil, object{})}, `"<s>"`},
		{"template of no token", object{"post_processor": template([]string{"<s>"}, nil,
			object{"<s>": special("<s>", 99)})}, "99"},
		{"top level", object{"extra": 1}, "extra"},
		{"version", object{"version": "2.0"}, "2.0"},
		{"added id", object{"added_tokens": []object{added(17, "<x>", "")}}, "17"},
		{"added id of the model", object{"added_tokens": []object{added(2, "a", "")}}, `"a"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load(writeFolder(t, smallFile(tt.parts), nil))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Load = %v, want an error that names %q", err, tt.want)
			}
		})
	}
}

func TestLoadFailsOn(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); err == nil || !os.IsNotExist(unwrapAll(err)) {
		t.Errorf("Load(empty folder) = %v, want that tokenizer.json does not exist", err)
	}
	for name, text := range map[string]string{"a.json": "{", "b.gguf": "GGML", "c.json": `{"version":"1.0"} x`} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil {
			t.Errorf("Load(%q) = nil, want an error", text)
		}
	}
}

func unwrapAll(err error) error {
	for {
		inner, ok := err.(interface{ Unwrap() error })
		if !ok {
			return err
		}
		err = inner.Unwrap()
	}
}

func TestConfig(t *testing.T) {
	llama := `{"tokenizer_class": "LlamaTokenizer", "add_bos_token": %, "add_eos_token": true, "unk_token": "<unk>", "bos_token": "<s>", "eos_token": {"content": "</s>", "lstrip": true}}`
	tests := []struct {
		name     string
		beside   map[string]string
		text     string
		want     []int
		specials []int
		size     int
	}{
		{"none; what has no token is left out", nil, "b<s>b", []int{2, 2}, nil, 4},
		{
			"roles are added",
			map[string]string{configFile: `{"bos_token": "<s>", "pad_token": "<unk>"}`},
			"a<s>b",
			[]int{1, 4, 2},
			[]int{0, 4},
			5,
		},
		{
			"class opens and closes",
			map[string]string{configFile: strings.Replace(llama, "%", "true", 1)},
			"ab",
			[]int{4, 3, 5},
			[]int{0, 4, 5},
			6,
		},
		{
			"class closes",
			map[string]string{configFile: strings.Replace(llama, "%", "false", 1)},
			"a </s>",
			[]int{1, 5, 5},
			[]int{0, 4, 5},
			6,
		},
		{
			"older file",
			map[string]string{specialsFile: `{"eos_token": "ab", "additional_special_tokens": ["b"]}`},
			"aab",
			[]int{1, 3},
			[]int{2, 3},
			4,
		},
		{"newer file wins", map[string]string{
			configFile:   `{"added_tokens_decoder": {"4": {"content": "<x>", "special": false}}, "eos_token": "a"}`,
			specialsFile: `{"eos_token": "b"}`,
		}, "<x>b", []int{4, 2}, []int{1}, 5},
		{
			"named extras",
			map[string]string{configFile: `{"extra_special_tokens": {"z": "b", "y": "<y>"}}`},
			"<y>b",
			[]int{4, 2},
			[]int{2, 4},
			5,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tok, err := Load(writeFolder(t, smallFile(nil), tt.beside))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := tok.Encode(tt.text, true); err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("Encode(%q) = %v, %v; want %v", tt.text, got, err, tt.want)
			}
			if got := tok.SpecialIDs(); !slices.Equal(got, tt.specials) {
				t.Errorf("SpecialIDs() = %v, want %v", got, tt.specials)
			}
			if tok.VocabSize() != 4 || tok.vocab.size() != tt.size {
				t.Errorf("VocabSize(), Size() = %d, %d; want 4, %d", tok.VocabSize(), tok.vocab.size(), tt.size)
			}
		})
	}
	for _, bad := range []string{
		`{"tokenizer_class": "GemmaTokenizer", "bos_token": null}`, `{"bos_token": 5}`,
		`{"added_tokens_decoder": {"9": {"content": "<x>"}}}`, `[`,
	} {
		if _, err := Load(writeFolder(t, smallFile(nil), map[string]string{configFile: bad})); err == nil {
			t.Errorf("Load with %s = nil, want an error", bad)
		}
	}
}

func TestIdentity(t *testing.T) {
	byFile := loadTest(t, "bytes")
	if got := byFile.Name(); got != "bytes.json" {
		t.Errorf("Name() = %q, want bytes.json", got)
	}
	data, err := os.ReadFile(testFile("bytes"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "my-model")
	if err := os.Mkdir(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, tokenizerFile), data, 0o600); err != nil {
		t.Fatal(err)
	}
	byFolder, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := byFolder.Name(); got != "my-model" {
		t.Errorf("Name() = %q, want my-model", got)
	}
	if byFile.SHA256() != byFolder.SHA256() || len(byFile.SHA256()) != 64 {
		t.Errorf("SHA256() = %q and %q, want the same 64 digits", byFile.SHA256(), byFolder.SHA256())
	}
	if got := byFile.SpecialAdded(); got != 2 {
		t.Errorf("SpecialAdded() = %d, want 2", got)
	}
}
