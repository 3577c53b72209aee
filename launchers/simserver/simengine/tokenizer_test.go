package simengine

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTokenizerSize(t *testing.T) {
	t.Parallel()
	tok := NewTokenizer()
	if len(tok.pieces) != TokenizerSize || len(tok.Spoken) < 1000 {
		t.Errorf("pieces %d, spoken %d, want %d and at least 1000", len(tok.pieces), len(tok.Spoken), TokenizerSize)
	}
	for _, id := range tok.Spoken {
		piece := tok.Piece(id)
		if strings.Trim(piece, " abcdefghijklmnopqrstuvwxyz") != "" || piece[0] != ' ' {
			t.Fatalf("spoken piece %q needs escaping or lacks its space", piece)
		}
	}
	if a, b := tok.Piece(firstPiece), tok.Piece(TokenizerSize); a != b || a == "" {
		t.Errorf("piece above the vocabulary = %q, want %q over again", b, a)
	}
}

func TestEncode(t *testing.T) {
	t.Parallel()
	tok := NewTokenizer()
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
		ids := tok.Encode(nil, c.text)
		var back strings.Builder
		for _, id := range ids {
			back.WriteString(tok.Piece(id))
		}
		if len(ids) > c.most || back.String() != c.text {
			t.Errorf("encode(%q) = %d tokens that spell %q, want at most %d that spell the text", c.text, len(ids),
				back.String(), c.most)
		}
	}
}

// What an answer says is counted the same when a client tokenizes it again.
func TestAnswersTokenizeBack(t *testing.T) {
	t.Parallel()
	tok := NewTokenizer()
	s := &Sequence{Key: 77, Spoken: tok.Spoken, Answer: 500}
	var ids []int32
	for i := range s.Answer {
		ids = append(ids, s.OutputToken(i))
	}
	again := tok.Encode(nil, tok.Decode(ids))
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
	tok := NewTokenizer()
	f.Fuzz(func(t *testing.T, s string) {
		got := tok.Decode(tok.Encode(nil, s))
		if utf8.ValidString(s) && got != s {
			t.Errorf("decode(encode(%q)) = %q, want the same", s, got)
		}
		if !utf8.ValidString(got) {
			t.Errorf("decode(encode(%q)) = %q is not UTF-8", s, got)
		}
	})
}
