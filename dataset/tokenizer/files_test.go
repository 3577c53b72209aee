package tokenizer

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/dataset/tokenizer/pattern"
)

// object is a JSON object in a test.
type object = map[string]any

// corpus is what the vocabularies in testdata are trained on.
const corpus = `The server answers a request with one token after the other. The client counts the tokens and the time between them.
A benchmark asks: how many tokens a second, how long until the first? It's the client's clock that counts, don't trust the server's.
for i in range(10):
    print(i, "tokens")
Der Zähler zählt die Zeichen; los tokens del servidor; 東京の時計 と 東京の駅; часы считают часы; 12345 67890 2026.`

// added is an added token of a test file.
func added(id int, content, flags string) object {
	has := func(name string) bool { return strings.Contains(flags, name) }
	return object{
		"id": id, "content": content, "special": has("special"), "normalized": has("normalized"),
		"lstrip": has("lstrip"), "rstrip": has("rstrip"), "single_word": has("single_word"),
	}
}

// modelOf writes a vocabulary as the model of a tokenizer.json.
func modelOf(v trained, more object) object {
	vocab := object{}
	for id, token := range v.tokens {
		vocab[token] = id
	}
	m := object{
		"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": nil, "end_of_word_suffix": nil,
		"fuse_unk": false, "byte_fallback": false, "ignore_merges": false, "vocab": vocab, "merges": v.merges,
	}
	maps.Copy(m, more)
	return m
}

func file(model object, tokens []object, parts object) object {
	f := object{
		"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": tokens, "model": model,
		"normalizer": nil, "pre_tokenizer": nil, "post_processor": nil, "decoder": nil,
	}
	maps.Copy(f, parts)
	return f
}

func sequence(key string, parts ...object) object { return object{"type": "Sequence", key: parts} }

func splitOn(pattern object, how string, invert bool) object {
	return object{"type": "Split", "pattern": pattern, "behavior": how, "invert": invert}
}

func byteLevelPart(prefix, regex bool) object {
	return object{"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": true, "use_regex": regex}
}

func replacePart(from, to string) object {
	return object{"type": "Replace", "pattern": object{"String": from}, "content": to}
}

func template(before, after []string, ids object) object {
	var single []object
	put := func(names []string) {
		for _, n := range names {
			single = append(single, object{"SpecialToken": object{"id": n, "type_id": 0}})
		}
	}
	put(before)
	single = append(single, object{"Sequence": object{"id": "A", "type_id": 0}})
	put(after)
	return object{"type": "TemplateProcessing", "single": single, "pair": single[:1:1], "special_tokens": ids}
}

func special(name string, id int) object {
	return object{"id": name, "ids": []int{id}, "tokens": []string{name}}
}

// byteFile is in the manner of Llama-3, with added tokens of every sort.
func byteFile(t testing.TB) object {
	re, err := pattern.NewRegex(llama3Expr)
	if err != nil {
		t.Fatal(err)
	}
	v := trainBytes(nil, []string{corpus}, patternSplit{pattern: re, behaviour: isolated}, 340)
	n := len(v.tokens)
	tokens := []object{
		added(n, "<|begin|>", "special"), added(n+1, "<|end|>", "special"), added(n+2, "<think>", ""),
		added(n+3, "<l>", "lstrip"), added(n+4, "<r>", "rstrip special"), added(n+5, "word", "single_word"),
		added(n+6, "<both>", "lstrip rstrip"), added(n+7, "<|end|><|end|>", ""),
	}
	return file(modelOf(v, object{"ignore_merges": true}), tokens, object{
		"pre_tokenizer": sequence("pretokenizers",
			splitOn(object{"Regex": strings.Replace(llama3Expr, shortExpr, `(?i:'s|'t|'re|'ve|'m|'ll|'d)`, 1)},
				"Isolated", false),
			byteLevelPart(false, false)),
		"post_processor": sequence("processors", byteLevelPart(true, true),
			template([]string{"<|begin|>"}, []string{"<|end|>"}, object{
				"<|begin|>": special("<|begin|>", n),
				"<|end|>":   special("<|end|>", n+1),
			})),
		"decoder": byteLevelPart(true, true),
	})
}

// markFile is in the manner of Llama-2.
func markFile(testing.TB) object {
	units := []string{}
	for b := range 256 {
		units = append(units, fmt.Sprintf("<0x%02X>", b))
	}
	marked := spaceMark + strings.ReplaceAll(corpus, " ", spaceMark)
	chars := characters(marked)
	slices.Sort(chars)
	units = append(units, slices.Compact(chars)...)
	v := train([]string{"<unk>", "<s>", "</s>"}, units, [][]string{characters(marked)}, 460)
	return file(modelOf(v, object{"unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true}),
		[]object{
			added(0, "<unk>", "special"), added(1, "<s>", "special"), added(2, "</s>", "special normalized"),
			added(len(v.tokens), "to ken", "normalized"),
		},
		object{
			"normalizer": sequence("normalizers", object{"type": "Prepend", "prepend": spaceMark},
				replacePart(" ", spaceMark)),
			"post_processor": template([]string{"<s>"}, nil, object{"<s>": special("<s>", 1)}),
			"decoder": sequence("decoders", replacePart(spaceMark, " "), object{"type": "ByteFallback"},
				object{"type": "Fuse"},
				object{"type": "Strip", "content": " ", "start": 1, "stop": 0}),
		})
}

// wordFile has a vocabulary of characters, and unknown ones in it.
func wordFile(parts object, fuse bool) func(testing.TB) object {
	return func(testing.TB) object {
		marked := strings.ToLower(strings.ReplaceAll(corpus, " ", spaceMark))
		var words [][]string
		for _, w := range strings.FieldsFunc(marked, func(r rune) bool { return r == '\n' }) {
			words = append(words, characters(w))
		}
		units := characters(strings.ReplaceAll(marked, "\n", ""))
		slices.Sort(units)
		v := train([]string{"<unk>"}, slices.Compact(units), words, 200)
		return file(modelOf(v, object{"unk_token": "<unk>", "fuse_unk": fuse}),
			[]object{
				added(0, "<unk>", "special"), added(len(v.tokens), "İt", "normalized"),
				added(len(v.tokens)+1, "ＦＵＬＬ", "normalized single_word"),
			}, parts)
	}
}

// testFiles are the tokenizers in testdata by name.
func testFiles() map[string]func(testing.TB) object {
	metaspace := object{"type": "Metaspace", "replacement": spaceMark, "prepend_scheme": "first", "split": true}
	return map[string]func(testing.TB) object{
		"bytes": byteFile,
		"marks": markFile,
		"metaspace": wordFile(object{
			"normalizer":    sequence("normalizers", object{"type": "NFKC"}, object{"type": "Lowercase"}),
			"pre_tokenizer": metaspace, "decoder": metaspace,
		}, true),
		"splits": wordFile(object{
			"normalizer": sequence("normalizers", object{"type": "NFC"}, object{
				"type": "Strip", "strip_left": true,
				"strip_right": true,
			}),
			"pre_tokenizer": sequence("pretokenizers", object{"type": "WhitespaceSplit"},
				object{"type": "Digits", "individual_digits": false},
				splitOn(object{"String": "e"}, "MergedWithPrevious", false), splitOn(object{"Regex": `[.,;:]+`},
					"MergedWithNext", false),
				splitOn(object{"Regex": `\p{L}`}, "Contiguous", true), splitOn(object{"String": "-"},
					"Removed", false)),
			"decoder": object{"type": "Fuse"},
		}, false),
		"words": wordFile(object{"normalizer": object{"type": "NFD"}, "pre_tokenizer": object{"type": "Whitespace"}},
			false),
	}
}

func testFile(name string) string { return filepath.Join("testdata", name+".json") }

// TestFilesCurrent keeps the tokenizers in testdata as their makers make them.
func TestFilesCurrent(t *testing.T) {
	for name, make := range testFiles() {
		want, err := json.MarshalIndent(make(t), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, '\n')
		if *update {
			if err := os.WriteFile(testFile(name), want, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(testFile(name)); err != nil || string(got) != string(want) {
			t.Errorf("%s is not what its maker makes (%v); run with -update", testFile(name), err)
		}
	}
}
