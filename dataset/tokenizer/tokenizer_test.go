package tokenizer

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestLossyUTF8(t *testing.T) {
	const bad = "\ufffd"
	tests := []struct{ in, want string }{
		{"", ""},
		{"é", "é"},
		{"\xff", bad},
		{"a\x80b", "a" + bad + "b"},
		{"\xe6\x97", bad},
		{"\xe6\x97x", bad + "x"},
		{"\xf0\x9f\x98", bad},
		{"\xf0\x9f\x98\xf0\x9f\x98\x80", bad + "😀"},
		{"\xed\xa0\x80", bad + bad + bad},
		{"\xc0\xaf", bad + bad},
		{"\xf4\x90\x80\x80", strings.Repeat(bad, 4)},
		{"\xe0\x80", bad + bad},
		{"\xf0\x80", bad + bad},
		{"\xc3(", bad + "("},
	}
	for _, tt := range tests {
		if got := lossyUTF8(tt.in); got != tt.want {
			t.Errorf("lossyUTF8(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestInvalidText says what becomes of bytes that are not UTF-8.
func TestInvalidText(t *testing.T) {
	tok := loadTest(t, "bytes")
	got, err := tok.Encode("a\xe6\x97b\xff", false)
	want, errWant := tok.Encode("a\ufffdb\ufffd", false)
	if err != nil || errWant != nil || !slices.Equal(got, want) {
		t.Errorf("Encode(invalid) = %v, %v; want %v", got, err, want)
	}
}

func TestDecodeSkipsAndRefuses(t *testing.T) {
	tok := loadTest(t, "bytes")
	ids, err := tok.Encode("the <think>", true)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		skip bool
		want string
	}{{true, "the <think>"}, {false, "<|begin|>the <think><|end|>"}} {
		if got, err := tok.Decode(ids, tt.skip); err != nil || got != tt.want {
			t.Errorf("Decode(skip %t) = %q, %v; want %q", tt.skip, got, err, tt.want)
		}
	}
	for _, id := range []int{-1, tok.vocab.size(), 1 << 40} {
		if got, err := tok.Decode([]int{id}, false); err == nil {
			t.Errorf("Decode(%d) = %q, want an error", id, got)
		}
	}
	if got := cleanUpBlanks("It 's a test . Do n't , we 've ' x ' !"); got != "It's a test. Don't, we've'x '!" {
		t.Errorf("cleanUpBlanks = %q", got)
	}
}

// TestLongRuns catches time that grows with the square of a run's length.
func TestLongRuns(t *testing.T) {
	const n, limit = 100_000, 20 * time.Second
	for name := range testFiles() {
		tok := loadTest(t, name)
		for _, unit := range []string{
			"a", " ", "\n", "é", "😀", "\u0301", "tokens", "1", "<|end|>", "<l> ",
			"word", "\x00",
		} {
			start := time.Now()
			ids, err := tok.Encode(strings.Repeat(unit, n/len(unit)), true)
			if took := time.Since(start); err != nil || took > limit {
				t.Errorf("%s: Encode(%q many times) = %d ids, %v in %v, want at most %v", name, unit, len(ids),
					err, took, limit)
			}
		}
	}
}

// TestShortAndLongWordsAgree joins the same words by both ways.
func TestShortAndLongWordsAgree(t *testing.T) {
	tok := loadTest(t, "bytes")
	m, ok := tok.model.(*bpe)
	if !ok {
		t.Fatalf("model is a %T", tok.model)
	}
	for _, text := range goldenTexts() {
		for _, word := range strings.SplitAfter(text, " ") {
			word = m.alphabet.encode(word)
			if len([]rune(word)) > shortWord || word == "" {
				continue
			}
			var short, long mergeQueue
			m.addSymbols(&short, word)
			short.run(m.merges)
			m.addSymbols(&long, word)
			long.symbols[len(long.symbols)-1].next = -1
			long.runHeap(m.merges)
			if a, b := short.appendIDs(nil), long.appendIDs(nil); !slices.Equal(a, b) {
				t.Errorf("%q: %v by looking at all pairs, %v by the heap", word, a, b)
			}
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	tok := loadTest(t, "bytes")
	texts := goldenTexts()
	var wg sync.WaitGroup
	want := make([][]int, len(texts))
	for i, text := range texts {
		want[i], _ = loadTest(t, "bytes").Encode(text, false)
	}
	for range 4 {
		wg.Go(func() {
			for i, text := range texts {
				if got, err := tok.Encode(text, false); err != nil || !slices.Equal(got, want[i]) {
					t.Errorf("Encode(%q) = %v, %v; want %v", text, got, err, want[i])
				}
			}
		})
	}
	wg.Wait()
}

func TestWordCacheIsBounded(t *testing.T) {
	var c wordCache
	c.put(strings.Repeat("x", cachedBytes+1), []int{1})
	for i := range cachedWords + 100 {
		c.put(strings.Repeat("y", i%7)+string(rune(0x4e00+i%20000))+string(rune('a'+i/20000)), []int{i})
	}
	if n := len(c.ids); n > cachedWords {
		t.Errorf("cache holds %d words, want at most %d", n, cachedWords)
	}
	if _, ok := c.get(strings.Repeat("x", cachedBytes+1)); ok {
		t.Errorf("a word of %d bytes is cached", cachedBytes+1)
	}
}
