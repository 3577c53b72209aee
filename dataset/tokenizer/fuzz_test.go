package tokenizer

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/benchrig/bench/dataset/tokenizer/gguf"
	"github.com/benchrig/bench/dataset/tokenizer/pattern"
)

// FuzzParseHF reads any bytes as a tokenizer.json: it ends with an error or
// with a tokenizer whose ids it can decode, and takes memory in proportion.
func FuzzParseHF(f *testing.F) {
	// Small ones: the fuzzer shortens what it finds, and takes long for long.
	for _, parts := range []object{
		{"normalizer": sequence("normalizers", object{"type": "NFKC"}, replacePart(" ", spaceMark),
			object{"type": "Lowercase"})},
		{"pre_tokenizer": sequence("pretokenizers", splitOn(object{"Regex": `\p{L}+|\s+(?!\S)`}, "Contiguous", true),
			byteLevelPart(true, false))},
		{
			"pre_tokenizer": object{"type": "Metaspace", "replacement": spaceMark, "prepend_scheme": "first"},
			"decoder":       object{"type": "ByteFallback"},
		},
		{"post_processor": template([]string{"a"}, []string{"b"}, object{"a": special("a", 1), "b": special("b", 2)})},
		{"added_tokens": []object{added(4, "<x>", "lstrip single_word normalized"), added(1, "a", "rstrip special")}},
	} {
		data, err := json.Marshal(smallFile(parts))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(
		`{"version":"1.0","model":{"type":"BPE","vocab":{"a":0,"b":4000000,"ab":2},"merges":[["a","b"]]},"added_tokens":[{"id":3,"content":"x"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		tok, err := parseHF(data, nil)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 512<<20+uint64(len(data))*2000 {
			t.Errorf("parseHF(%d bytes) allocated %d bytes", len(data), used)
		}
		if err != nil {
			return
		}
		checkIDs(t, tok, "the a\u0301 <|end|> 12  \n😀")
	})
}

// checkIDs wants ids that the tokenizer itself can decode to UTF-8.
func checkIDs(t *testing.T, tok *Tokenizer, text string) {
	t.Helper()
	ids, err := tok.Encode(text, true)
	if err != nil {
		return // an expression that takes too much
	}
	back, err := tok.Decode(ids, false)
	if err != nil || !utf8.ValidString(back) {
		t.Errorf("Decode(Encode(%q) = %v) = %q, %v", text, ids, back, err)
	}
}

// FuzzReadGGUF reads any bytes as a GGUF file.
func FuzzReadGGUF(f *testing.F) {
	f.Add(ggufHead(withPair(withPair(withPair(ggufSPM(), keyTokens, []string{"<unk>", "a"}), keyKinds, []int32{2, 1}),
		keyScores, []float32{0, 1})))
	f.Add(ggufHead([]ggufPair{
		{keyModel, "gpt2"},
		{keyPre, "default"},
		{keyTokens, []string{"a", "b", "ab"}},
		{keyMerges, []string{"a b"}},
		{"tokenizer.ggml.add_bos_token", false},
	}))
	f.Add([]byte("GGUF\x03\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		keys, err := gguf.Read(bytes.NewReader(data))
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20+uint64(len(data))*100 {
			t.Errorf("Read(%d bytes) allocated %d bytes", len(data), used)
		}
		if err != nil {
			return
		}
		if tok, err := newGGUF(keys); err == nil {
			checkIDs(t, tok, "the a\u0301 <|end|> 12  \n😀")
		}
	})
}

// FuzzRoundTrip wants the text back from byte-level ids, and valid text back
// from any ids.
func FuzzRoundTrip(f *testing.F) {
	for _, text := range goldenTexts() {
		f.Add(text)
	}
	tok := loadTest(f, "bytes")
	f.Fuzz(func(t *testing.T, text string) {
		ids, err := tok.Encode(text, false)
		if err != nil {
			t.Fatalf("Encode(%q) = %v", text, err)
		}
		back, err := tok.Decode(ids, false)
		if err != nil || !utf8.ValidString(back) {
			t.Fatalf("Decode(%v) = %q, %v", ids, back, err)
		}
		// Some added tokens of this file take blanks along.
		for _, content := range []string{"<l>", "<r>", "<both>"} {
			if strings.Contains(text, content) {
				return
			}
		}
		if want := lossyUTF8(text); back != want {
			t.Errorf("Decode(Encode(%q)) = %q, want %q", text, back, want)
		}
	})
}

// FuzzLossyUTF8 compares with the conversion that takes one byte at a time.
func FuzzLossyUTF8(f *testing.F) {
	f.Add("a\xe6\x97\xf0\x9f\x98b")
	f.Fuzz(func(t *testing.T, text string) {
		got := lossyUTF8(text)
		if !utf8.ValidString(got) {
			t.Errorf("lossyUTF8(%q) = %q, which is not UTF-8", text, got)
		}
		if utf8.ValidString(text) && got != text {
			t.Errorf("lossyUTF8(%q) = %q, want it as it is", text, got)
		}
		drop := func(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\ufffd", "") }
		if drop(got) != drop(text) {
			t.Errorf("lossyUTF8(%q) = %q: whole characters differ", text, got)
		}
	})
}

// FuzzExpression compiles what checkExpression accepts and nothing may panic.
func FuzzExpression(f *testing.F) {
	for _, expr := range []string{
		byteLevelExpr, llama3Expr, qwen2Expr, tekkenExpr, gpt4oExpr, `(?i:'s)|\p{Han}+?`,
		`[^\]]{2,}?`,
	} {
		f.Add(expr)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		if len(expr) > 200 || strings.Count(expr, "{") > 8 {
			return
		}
		re, err := pattern.NewRegex(expr)
		if err != nil {
			return
		}
		spans, err := re.Spans("ab 1\n")
		if err != nil {
			return
		}
		end := 0
		for _, s := range spans {
			if s.Start != end || s.End < s.Start {
				t.Fatalf("%q: spans %v leave gaps or overlap", expr, spans)
			}
			end = s.End
		}
		if end != len("ab 1\n") {
			t.Errorf("%q: spans %v do not cover the text", expr, spans)
		}
	})
}
