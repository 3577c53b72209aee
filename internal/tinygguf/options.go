package tinygguf

import "fmt"

// VocabSize is the number of tokens that every model of this package knows:
// token ids go from 0 to VocabSize-1.
const VocabSize = 1184

// Options says which model to write. The zero value is the tiny one: 0.6
// million parameters in f16, 1.2 MB. A field left 0 has the tiny model's value.
type Options struct {
	Name    string // the model's own name in the file; "": "tinygguf"
	Type    string // of the weights: "f32", "f16" (also ""), "q8_0", "q4_0"
	Embd    int    // embedding length, a multiple of 32
	Layers  int
	Heads   int // attention heads; each is Embd/Heads wide, an even number
	KVHeads int // key-value heads, a divisor of Heads
	FF      int // feed-forward length, a multiple of 32
	Context int // context length that the file states, in tokens
	Seed    uint64

	// NaturalStops lets answers end by themselves after a few dozen tokens.
	// Without it the end-of-sequence token does not come, so that every answer
	// runs to the limit asked for.
	NaturalStops bool
}

// Sizes is the names that Size knows, smallest first.
func Sizes() []string { return []string{"tiny", "small"} }

// Size gives the options of a named size: "tiny" has 0.6 million parameters,
// "small" 35 million, enough for a visible difference between weight types.
// Models of one seed share the leading part of their embeddings, so tiny can
// draft for small in speculative decoding: some of its tokens are accepted.
func Size(name string) (Options, error) {
	switch name {
	case "tiny":
		return Options{}.withDefaults(), nil
	case "small":
		return Options{Embd: 512, Layers: 8, Heads: 8, KVHeads: 8, FF: 2048}.withDefaults(), nil
	}
	return Options{}, fmt.Errorf("size %q: want one of %q", name, Sizes())
}

func (o Options) withDefaults() Options {
	setString := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}

	set := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}

	setString(&o.Name, "tinygguf")
	setString(&o.Type, "f16")
	set(&o.Embd, 128)
	set(&o.Layers, 2)
	set(&o.Heads, 4)
	set(&o.KVHeads, min(2, o.Heads))
	set(&o.FF, 256)
	set(&o.Context, 4096)
	return o
}

func (o Options) check() error {
	for _, f := range []struct {
		name            string
		value, multiple int
	}{
		{"embedding length", o.Embd, blockLen},
		{"layers", o.Layers, 1},
		{"heads", o.Heads, 1},
		{"kv heads", o.KVHeads, 1},
		{"feed-forward length", o.FF, blockLen},
		{"context length", o.Context, 1},
	} {
		if f.value < 1 || f.value%f.multiple != 0 {
			return fmt.Errorf("%s %d: want a positive multiple of %d", f.name, f.value, f.multiple)
		}
	}

	if o.Embd%(2*o.Heads) != 0 {
		return fmt.Errorf("%d heads: embedding length %d gives them no even width", o.Heads, o.Embd)
	}
	if o.Heads%o.KVHeads != 0 {
		return fmt.Errorf("%d kv heads: want a divisor of the %d heads", o.KVHeads, o.Heads)
	}

	return nil
}
