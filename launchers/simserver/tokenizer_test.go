package simserver

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTokenizerSize(t *testing.T) {
	t.Parallel()
	tok := newTokenizer()
	if len(tok.pieces) != tokenizerSize || len(tok.spoken) < 1000 {
		t.Errorf("pieces %d, spoken %d, want %d and at least 1000", len(tok.pieces), len(tok.spoken), tokenizerSize)
	}
	for _, id := range tok.spoken {
		piece := tok.piece(id)
		if strings.Trim(piece, " abcdefghijklmnopqrstuvwxyz") != "" || piece[0] != ' ' {
			t.Fatalf("spoken piece %q needs escaping or lacks its space", piece)
		}
	}
	if a, b := tok.piece(firstPiece), tok.piece(tokenizerSize); a != b || a == "" {
		t.Errorf("piece above the vocabulary = %q, want %q over again", b, a)
	}
}

func TestEncode(t *testing.T) {
	t.Parallel()
	tok := newTokenizer()
	for _, c := range []struct {
		text string
		most int // tokens
	}{
		{"", 0},
		{"the", 1},
		{" the of and", 3},
		{"hello there, world!", 7},
		{"extraordinarily long words", 10},
		{"naïve Größe 東京 🙂", 33},
		{"a\n\tb \x00\xff", 9},
		{strings.Repeat("word ", 100), 101},
	} {
		ids := tok.encode(nil, c.text)
		var back strings.Builder
		for _, id := range ids {
			back.WriteString(tok.piece(id))
		}
		if len(ids) > c.most || back.String() != c.text {
			t.Errorf("encode(%q) = %d tokens that spell %q, want at most %d that spell the text", c.text, len(ids), back.String(), c.most)
		}
	}
}

// What an answer says is counted the same when a client tokenizes it again.
func TestAnswersTokenizeBack(t *testing.T) {
	t.Parallel()
	tok := newTokenizer()
	s := &sequence{key: 77, spoken: tok.spoken, answer: 500}
	var ids []int32
	for i := range s.answer {
		ids = append(ids, s.outputToken(i))
	}
	again := tok.encode(nil, tok.decode(ids))
	if len(again) != len(ids) {
		t.Fatalf("answer of %d tokens is tokenized to %d", len(ids), len(again))
	}
	for i := range ids {
		if again[i] != ids[i] {
			t.Fatalf("token %d = %d after a round trip, want %d", i, again[i], ids[i])
		}
	}
}

func FuzzTokenizer(f *testing.F) {
	for _, s := range []string{"", "hello world", " the\nof", "日本", "\xff\x00", "<s>"} {
		f.Add(s)
	}
	tok := newTokenizer()
	f.Fuzz(func(t *testing.T, s string) {
		got := tok.decode(tok.encode(nil, s))
		if utf8.ValidString(s) && got != s {
			t.Errorf("decode(encode(%q)) = %q, want the same", s, got)
		}
		if !utf8.ValidString(got) {
			t.Errorf("decode(encode(%q)) = %q is not UTF-8", s, got)
		}
	})
}
