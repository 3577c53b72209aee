package tokenizer

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/dataset/tokenizer/gguf"
	"github.com/benchrig/bench/internal/tinygguf"
)

// ggufPair is one key-value for a file.
type ggufPair struct {
	key   string
	value any // uint32, bool, string, []string, []float32 or []int32
}

func ggufAppendString(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
}

func ggufAppend(b []byte, p ggufPair) []byte {
	le := binary.LittleEndian
	b = ggufAppendString(b, p.key)
	list := func(kind uint32, n int) {
		b = le.AppendUint64(le.AppendUint32(le.AppendUint32(b, gguf.Array), kind), uint64(n))
	}
	switch v := p.value.(type) {
	case uint32:
		b = le.AppendUint32(le.AppendUint32(b, gguf.Uint32), v)
	case bool:
		b = append(le.AppendUint32(b, gguf.Bool), map[bool]byte{true: 1}[v])
	case string:
		b = ggufAppendString(le.AppendUint32(b, gguf.String), v)
	case []string:
		list(gguf.String, len(v))
		for _, s := range v {
			b = ggufAppendString(b, s)
		}
	case []float32:
		list(gguf.Float32, len(v))
		for _, f := range v {
			b = le.AppendUint32(b, math.Float32bits(f))
		}
	case []int32:
		list(gguf.Int32, len(v))
		for _, i := range v {
			b = le.AppendUint32(b, uint32(i))
		}
	default:
		panic(p.key)
	}
	return b
}

// ggufHead is a file without tensors.
func ggufHead(pairs []ggufPair) []byte {
	le := binary.LittleEndian
	b := le.AppendUint64(le.AppendUint64(le.AppendUint32([]byte("GGUF"), 3), 0), uint64(len(pairs)))
	for _, p := range pairs {
		b = ggufAppend(b, p)
	}
	return b
}

// tinyModel is a model that a server loads.
func tinyModel(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	o, err := tinygguf.Size("tiny")
	if err != nil {
		t.Fatal(err)
	}
	if err := tinygguf.Write(&out, o); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// withVocabulary puts other tokenizer keys into a tiny model. They must name
// as many tokens as it has.
func withVocabulary(t testing.TB, pairs []ggufPair) []byte {
	t.Helper()
	model := tinyModel(t)
	const keysAt = 16
	first := bytes.Index(model, []byte("tokenizer.ggml.model")) - 8
	tensors := bytes.Index(model, []byte("token_embd.weight")) - 8
	if first < 0 || tensors < first {
		t.Fatal("the tiny model has another layout")
	}
	kept := uint64(0)
	for _, key := range []string{"general.", "llama."} {
		kept += uint64(bytes.Count(model[:first], []byte(key)))
	}
	var keys []byte
	for _, p := range pairs {
		keys = ggufAppend(keys, p)
	}
	// The data begins at a multiple of 32: a filler keeps it where it was.
	filler := ggufPair{key: "general.filler", value: ""}
	empty := len(ggufAppend(nil, filler))
	filler.value = string(make([]byte, ((tensors-first-len(keys)-empty)%32+32)%32))
	keys = ggufAppend(keys, filler)
	out := append([]byte{}, model[:first]...)
	binary.LittleEndian.PutUint64(out[keysAt:], kept+uint64(len(pairs))+1)
	return append(append(out, keys...), model[tensors:]...)
}

// ggufBPE are the keys of a byte-level vocabulary of n tokens. It is trained
// on texts that are not cut, so that any wrong cut gives other ids.
func ggufBPE(pre string, n int) []ggufPair {
	specials := []string{"<|pad|>", "<|bos|>", "<|eos|>", "<|mine|>"}
	texts := slices.DeleteFunc(hostileCorpus(3, 300), func(text string) bool {
		return strings.Contains(text, "<")
	})
	voc := trainBytes(specials, texts, nil, n)
	kinds := make([]int32, len(voc.tokens))
	for i := range kinds {
		kinds[i] = kindNormal
	}
	kinds[0], kinds[1], kinds[2], kinds[3] = kindControl, kindControl, kindControl, kindUserDefined
	return []ggufPair{
		{keyModel, "gpt2"},
		{keyPre, pre},
		{keyTokens, voc.tokens},
		{keyKinds, kinds},
		{keyMerges, voc.merges},
		{"tokenizer.ggml.bos_token_id", uint32(1)},
		{"tokenizer.ggml.eos_token_id", uint32(2)},
		{"tokenizer.ggml.padding_token_id", uint32(0)},
	}
}
