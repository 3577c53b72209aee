package tokenizer

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/dataset/tokenizer/gguf"
	"github.com/benchrig/bench/internal/tinygguf"
)

// ggufSPM are the keys of a small SentencePiece vocabulary.
func ggufSPM() []ggufPair {
	tokens := []string{"<unk>", "<s>", "</s>"}
	kinds := []int32{kindUnknown, kindControl, kindControl}
	scores := []float32{0, 0, 0}
	for b := range 256 {
		tokens = append(tokens, "<0x"+strings.ToUpper(hexByte(b))+">")
		kinds = append(kinds, kindByte)
		scores = append(scores, 0)
	}
	for i, text := range []string{spaceMark, "a", "b", "c", "ab", "bc", spaceMark + "a", "é", "<mine>"} {
		kind := int32(kindNormal)
		if text == "<mine>" {
			kind = kindUserDefined
		}
		tokens, kinds, scores = append(tokens, text), append(kinds, kind), append(scores, -float32(i))
	}
	return []ggufPair{
		{"general.architecture", "llama"},
		{keyModel, "llama"},
		{keyTokens, tokens},
		{keyKinds, kinds},
		{keyScores, scores},
		{"tokenizer.ggml.bos_token_id", uint32(1)},
		{"tokenizer.ggml.eos_token_id", uint32(2)},
		{"tokenizer.ggml.unknown_token_id", uint32(0)},
	}
}

func hexByte(b int) string {
	return string("0123456789abcdef"[b>>4]) + string("0123456789abcdef"[b&15])
}

// ggufBytes are the keys of a small byte-level vocabulary.
func ggufBytes(pre string) []ggufPair {
	tokens := append(byteUnits(), "ab", "Ġa", "12", "123", "<|bos|>", "<|eos|>")
	kinds := slices.Repeat([]int32{kindNormal}, len(tokens))
	kinds[260], kinds[261] = kindControl, kindControl
	return []ggufPair{
		{keyModel, "gpt2"},
		{keyPre, pre},
		{keyTokens, tokens},
		{keyKinds, kinds},
		{keyMerges, []string{"a b", "Ġ a", "1 2", "12 3"}},
		{"tokenizer.ggml.bos_token_id", uint32(260)},
		{"tokenizer.ggml.eos_token_id", uint32(261)},
	}
}

func ggufTokenizer(pairs []ggufPair) (*Tokenizer, error) {
	keys, err := gguf.Read(bytes.NewReader(ggufHead(pairs)))
	if err != nil {
		return nil, err
	}
	return newGGUF(keys)
}

// withPair is pairs with one key's value changed, or removed if it is nil.
func withPair(pairs []ggufPair, key string, value any) []ggufPair {
	pairs = slices.DeleteFunc(slices.Clone(pairs), func(p ggufPair) bool { return p.key == key })
	if value != nil {
		pairs = append(pairs, ggufPair{key, value})
	}
	return pairs
}

func TestGGUFEncode(t *testing.T) {
	// In the first vocabulary byte b is 3+b, "▁" 259, "a" 260, "b", "c", "ab",
	// "bc", "▁a" 265, "é", "<mine>" 267. In the second byte b is b, "ab" 256.
	tests := []struct {
		name    string
		pairs   []ggufPair
		text    string
		special bool
		want    []int
		back    string
	}{
		{"spm", ggufSPM(), "a b", true, []int{1, 265, 259, 261}, "<s> a b"},
		{"spm by score", ggufSPM(), "abc", false, []int{259, 263, 262}, "abc"},
		{"spm bytes", ggufSPM(), "中", false, []int{259, 3 + 0xe4, 3 + 0xb8, 3 + 0xad}, "中"},
		{"spm specials", ggufSPM(), "é<mine></s> c", false, []int{259, 266, 267, 2, 259, 259, 262}, "é<mine></s>  c"},
		{
			"spm without blank", withPair(ggufSPM(), "tokenizer.ggml.add_space_prefix", false), "ab", false,
			[]int{263},
			"ab",
		},
		{"spm ends", withPair(ggufSPM(), "tokenizer.ggml.add_eos_token", true), "", true, []int{1, 2}, "<s></s>"},
		{"bytes", ggufBytes("gpt-2"), "ab ab 123", false, []int{256, ' ', 256, ' ', 259}, "ab ab 123"},
		{"bytes open", ggufBytes("llama-bpe"), "<|eos|>", true, []int{260, 261}, "<|bos|><|eos|>"},
		{"single digits", ggufBytes("qwen2"), "123", true, []int{'1', '2', '3'}, "123"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tok, err := ggufTokenizer(tt.pairs)
			if err != nil {
				t.Fatal(err)
			}
			got, err := tok.Encode(tt.text, tt.special)
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("Encode(%q) = %v, %v; want %v", tt.text, got, err, tt.want)
			}
			if back, err := tok.Decode(got, false); err != nil || back != tt.back {
				t.Errorf("Decode(%v) = %q, %v; want %q", got, back, err, tt.back)
			}
		})
	}
}

func TestGGUFRefuses(t *testing.T) {
	spm, bpe := ggufSPM(), ggufBytes("gpt-2")
	tests := []struct {
		name  string
		pairs []ggufPair
		want  string
	}{
		{"no tokenizer", spm[:1], keyModel},
		{"model", withPair(spm, keyModel, "t5"), `"t5"`},
		{"no tokens", withPair(spm, keyTokens, nil), keyTokens},
		{"no scores", withPair(spm, keyScores, nil), keyScores},
		{"fewer scores", withPair(spm, keyScores, []float32{1}), keyScores},
		{"fewer kinds", withPair(spm, keyKinds, []int32{1}), keyKinds},
		{"no bytes", withPair(withPair(spm, keyTokens, []string{"<unk>"}), keyKinds, []int32{2}), "1 tokens"},
		{"role of no token", withPair(spm, "tokenizer.ggml.eos_token_id", uint32(9999)), "9999"},
		{"opens with nothing", withPair(spm, "tokenizer.ggml.bos_token_id", nil), "bos_token_id"},
		{"blanks", withPair(spm, "tokenizer.ggml.remove_extra_whitespaces", true), "remove_extra_whitespaces"},
		{"phi-3", withPair(spm, "general.name", "Phi-3 mini"), "Phi-3"},
		{"way to cut", withPair(bpe, keyPre, "new-model"), `"new-model"`},
		{"merge", withPair(bpe, keyMerges, []string{"ab"}), `"ab"`},
		{"merge of no token", withPair(bpe, keyMerges, []string{"b a"}), `"b" and "a"`},
		{"separator", withPair(bpe, "tokenizer.ggml.add_sep_token", true), "add_sep_token"},
		{"end as text", withPair(bpe, keyKinds, slices.Repeat([]int32{1}, 262)), "<|bos|>"},
		{"token twice", withPair(bpe, keyTokens, slices.Repeat([]string{"a"}, 262)), `"a"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := ggufTokenizer(tt.pairs); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want one that names %q", err, tt.want)
			}
		})
	}
}

func TestReadGGUFRefuses(t *testing.T) {
	le := binary.LittleEndian
	good := ggufHead(ggufSPM())
	head := func(keys uint64) []byte {
		return le.AppendUint64(le.AppendUint64(le.AppendUint32([]byte("GGUF"), 3), 0), keys)
	}
	listOf := func(kind uint32, n uint64) []byte {
		b := ggufAppendString(head(1), "tokenizer.x")
		return le.AppendUint64(le.AppendUint32(le.AppendUint32(b, gguf.Array), kind), n)
	}
	nested := ggufAppendString(head(1), "x")
	nested = le.AppendUint32(nested, gguf.Array)
	for range 10 {
		nested = le.AppendUint64(le.AppendUint32(nested, gguf.Array), 1)
	}
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "unexpected EOF"},
		{"magic", []byte("GGML...."), "GGML"},
		{"version", []byte("GGUF\x00\x00\x00\x03"), "little endian"},
		{"cut", good[:len(good)/2], "unexpected EOF"},
		{"keys", head(1 << 40), "keys"},
		{"key", le.AppendUint64(head(1), 1<<62), "string of"},
		{"string", le.AppendUint64(head(1), gguf.MaxString), "unexpected EOF"},
		{"list", listOf(gguf.Uint8, 1<<60), "list of"},
		{"list of strings", listOf(gguf.String, 1000), "unexpected EOF"},
		{"type", listOf(77, 3), "type 77"},
		{"nested", nested, "deep"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := gguf.Read(bytes.NewReader(tt.data)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Read = %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestReadGGUFTypes(t *testing.T) {
	b := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32([]byte("GGUF"), 2), 0)
	b = binary.LittleEndian.AppendUint64(b, 5)
	put := func(key string, kind uint32, value ...byte) {
		b = append(binary.LittleEndian.AppendUint32(ggufAppendString(b, key), kind), value...)
	}
	put("general.a", gguf.Int8, 0xff)
	put("general.b", gguf.Int16, 0xfe, 0xff)
	put("other.c", gguf.Float64, 1, 2, 3, 4, 5, 6, 7, 8)
	put("general.d", gguf.Uint64, 7, 0, 0, 0, 0, 0, 0, 0)
	put("general.e", gguf.Bool, 1)
	keys, err := gguf.Read(bytes.NewReader(append(b, "tensors follow"...)))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"general.a": int64(-1), "general.b": int64(-2), "other.c": nil,
		"general.d": int64(7), "general.e": true,
	} {
		if got := keys.Values[key]; got != want {
			t.Errorf("%s = %v, want %v", key, got, want)
		}
	}
}

// TestTinyModel loads a whole model file: only its head is read.
func TestTinyModel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := os.WriteFile(path, tinyModel(t), 0o600); err != nil {
		t.Fatal(err)
	}
	tok, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if tok.VocabSize() != tinygguf.VocabSize || tok.vocab.size() != tinygguf.VocabSize || tok.SpecialAdded() != 1 ||
		tok.Name() != "tiny.gguf" {
		t.Errorf("VocabSize, Size, SpecialAdded, Name = %d, %d, %d, %q", tok.VocabSize(), tok.vocab.size(),
			tok.SpecialAdded(), tok.Name())
	}
	for _, text := range goldenTexts() {
		ids, err := tok.Encode(text, false)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := tok.Decode(ids, false); err != nil || back != text && !strings.Contains(text, spaceMark) &&
			!strings.Contains(text, "s>") && !strings.Contains(text, "|>") {
			t.Errorf("Decode(Encode(%q)) = %q, %v", text, back, err)
		}
	}
}
