// Package tinygguf writes small language models with random weights in the GGUF
// format, so that tests and demonstrations can run a real inference server
// without downloading anything.
//
// What goes in: Options. What comes out: a llama-architecture GGUF file, the
// same bytes for the same Options on every machine. It loads as any model does,
// takes token-id, text and chat prompts, and answers with words and pieces of
// words in random order: it talks nonsense, and nothing about a real model's
// answers can be learned from it. The package opens no file and no connection.
package tinygguf

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

const (
	ggufVersion = 3
	alignment   = 32 // of the data section and of each tensor in it

	chatTemplate = `{% for message in messages %}` +
		`<|im_start|>{{ message['role'] }}{{ '\n' }}{{ message['content'] }}<|im_end|>{{ '\n' }}` +
		`{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant{{ '\n' }}{% endif %}`
)

// Write writes the model that o describes to w.
func Write(w io.Writer, o Options) error {
	o = o.withDefaults()
	weights, err := formatOf(o.Type)
	if err != nil {
		return fmt.Errorf("write model: %w", err)
	}
	if err := o.check(); err != nil {
		return fmt.Errorf("write model: %w", err)
	}

	vocab := newVocabulary()
	list := tensors(o, weights, vocab.biases(o.NaturalStops))
	out := bufio.NewWriterSize(w, 1<<18)
	if err := writeModel(out, o, header(metadata(o, weights, vocab), list), list); err != nil {
		return fmt.Errorf("write model: %w", err)
	}

	return nil
}

func writeModel(out *bufio.Writer, o Options, head []byte, list []tensor) error {
	if _, err := out.Write(padded(head)); err != nil {
		return err
	}

	var buf []byte
	for _, t := range list {
		err := t.each(o.Seed, func(row []float32) error {
			buf = t.format.appendRow(buf[:0], row)
			_, err := out.Write(buf)
			return err
		})
		if err != nil {
			return err
		}
		if _, err := out.Write(make([]byte, alignUp(t.bytes())-t.bytes())); err != nil {
			return err
		}
	}

	return out.Flush()
}

// field is one key of the file's metadata.
type field struct {
	key   string
	value any // uint32, float32, bool, string, []string, []float32 or []int32
}

func metadata(o Options, weights format, v *vocabulary) []field {
	n := func(v int) uint32 { return uint32(v) }

	return []field{
		{"general.architecture", "llama"},
		{"general.name", o.Name},
		{"general.file_type", weights.fileType},
		{"general.quantization_version", n(2)},

		{"llama.vocab_size", n(VocabSize)},
		{"llama.context_length", n(o.Context)},
		{"llama.embedding_length", n(o.Embd)},
		{"llama.block_count", n(o.Layers)},
		{"llama.feed_forward_length", n(o.FF)},
		{"llama.attention.head_count", n(o.Heads)},
		{"llama.attention.head_count_kv", n(o.KVHeads)},
		{"llama.attention.layer_norm_rms_epsilon", float32(1e-5)},
		{"llama.rope.dimension_count", n(o.Embd / o.Heads)},
		{"llama.rope.freq_base", float32(10000)},

		{"tokenizer.ggml.model", "llama"},
		{"tokenizer.ggml.tokens", v.tokens},
		{"tokenizer.ggml.scores", v.scores},
		{"tokenizer.ggml.token_type", v.kinds},
		{"tokenizer.ggml.unknown_token_id", n(unknownID)},
		{"tokenizer.ggml.bos_token_id", n(startID)},
		{"tokenizer.ggml.eos_token_id", n(endID)},
		{"tokenizer.ggml.add_bos_token", true},
		{"tokenizer.ggml.add_eos_token", false},
		{"tokenizer.chat_template", chatTemplate},
	}
}

// header is everything before the tensors' data, unpadded.
func header(fields []field, list []tensor) []byte {
	le := binary.LittleEndian
	b := append([]byte("GGUF"), 0, 0, 0, 0)
	le.PutUint32(b[4:], ggufVersion)
	b = le.AppendUint64(b, uint64(len(list)))
	b = le.AppendUint64(b, uint64(len(fields)))
	for _, f := range fields {
		b = appendValue(appendString(b, f.key), f.value)
	}

	offset := 0
	for _, t := range list {
		b = appendString(b, t.name)
		b = le.AppendUint32(b, uint32(len(t.shape())))
		for _, n := range t.shape() {
			b = le.AppendUint64(b, uint64(n))
		}
		b = le.AppendUint32(b, t.format.tensorType)
		b = le.AppendUint64(b, uint64(offset))
		offset += alignUp(t.bytes())
	}

	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
}

// GGUF's numbers for the types of metadata values.
const (
	typeUint32  = 4
	typeInt32   = 5
	typeFloat32 = 6
	typeBool    = 7
	typeString  = 8
	typeArray   = 9
)

func appendValue(b []byte, value any) []byte {
	le := binary.LittleEndian
	array := func(kind uint32, n int) []byte {
		return le.AppendUint64(le.AppendUint32(le.AppendUint32(b, typeArray), kind), uint64(n))
	}

	switch v := value.(type) {
	case uint32:
		b = le.AppendUint32(le.AppendUint32(b, typeUint32), v)
	case float32:
		b = le.AppendUint32(le.AppendUint32(b, typeFloat32), math.Float32bits(v))
	case bool:
		b = append(le.AppendUint32(b, typeBool), map[bool]byte{true: 1}[v])
	case string:
		b = appendString(le.AppendUint32(b, typeString), v)
	case []string:
		b = array(typeString, len(v))
		for _, s := range v {
			b = appendString(b, s)
		}
	case []float32:
		b = array(typeFloat32, len(v))
		for _, f := range v {
			b = le.AppendUint32(b, math.Float32bits(f))
		}
	case []int32:
		b = array(typeInt32, len(v))
		for _, i := range v {
			b = le.AppendUint32(b, uint32(i))
		}
	default:
		panic(fmt.Sprintf("tinygguf: no encoding for %T", value))
	}

	return b
}

func alignUp(n int) int { return (n + alignment - 1) / alignment * alignment }

func padded(b []byte) []byte { return append(b, make([]byte, alignUp(len(b))-len(b))...) }
