package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"unicode"
	"unicode/utf8"

	"github.com/benchrig/bench/dataset/prng"
	"github.com/benchrig/bench/dataset/table"
)

// bytesAToken is how much of a text is read for a token, at first.
const bytesAToken = 8

// maxWindow bounds what is read for one prompt.
const maxWindow = 64 << 20

// buildText cuts prompts of InputLen tokens, those around a prompt included,
// from a UTF-8 text. Their starts are spread over the whole file, so that no two
// begin alike where it is long enough. RangeRatio varies the lengths.
func buildText(ctx context.Context, file *os.File, spec Spec, tok Tokenizer) (*Set, error) {
	if err := spec.checkLengths(); err != nil {
		return nil, err
	}

	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", spec.Path, table.Cause(err))
	}

	spec.Compat = CompatNewest // lengths are ours
	set, err := cutText(ctx, file, info.Size(), spec, tok)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", spec.Path, err)
	}

	return set, nil
}

func cutText(ctx context.Context, file io.ReaderAt, size int64, spec Spec, tok Tokenizer) (*Set, error) {
	p := drawPlan(spec, pool{})
	set := &Set{Prompts: make([]Prompt, spec.N)}
	c := cutter{file: file, size: size, tok: tok}
	starts := map[int64]bool{}
	rng := prng.NewPCG64(spec.Seed + 1)
	for i := range set.Prompts {
		free := max(1, size-int64(p.inputs[i])*bytesAToken)
		start := free * int64(i) / int64(spec.N)
		if slot := min(free/int64(spec.N), 1<<31); slot > 1 {
			start += int64(rng.Integers(0, int(slot), 1)[0])
		}
		prompt, from, err := c.cut(ctx, start, p.inputs[i])
		if err != nil {
			return nil, fmt.Errorf("prompt %d: %w", i+1, err)
		}
		starts[from] = true
		prompt.OutputTokens = p.outputs[i]
		set.Prompts[i] = prompt
	}

	if spec.Shuffle {
		shuffle(set.Prompts, spec.Seed)
	}

	set.noteAlike(len(starts))
	if tok == nil {
		set.Notes = append(set.Notes, estimateNote)
	}
	if c.inexact.count > 0 {
		set.Notes = append(set.Notes, c.inexact.notes()...)
	}

	return set, nil
}

// cutter cuts pieces of an exact number of tokens from a file.
type cutter struct {
	file    io.ReaderAt
	size    int64
	tok     Tokenizer
	inexact lengthErrors
}

// cut returns the piece of want tokens from the first word at or after start,
// and where it starts. Where no piece has exactly that many, as one more
// character adds two, it is the longest with fewer.
func (c *cutter) cut(ctx context.Context, start int64, want int) (Prompt, int64, error) {
	for length := int64(want)*bytesAToken + 256; ; length *= 4 {
		if length > maxWindow {
			return Prompt{}, 0, fmt.Errorf("no piece of %d tokens in %d MiB of text", want, maxWindow>>20)
		}
		raw := make([]byte, min(length, max(0, c.size-start)))
		if _, err := c.file.ReadAt(raw, start); err != nil && !errors.Is(err, io.EOF) {
			return Prompt{}, 0, table.Cause(err)
		}

		whole := start+int64(len(raw)) >= c.size
		text, skipped, err := wordStart(raw, start > 0, whole)
		if err != nil {
			return Prompt{}, 0, fmt.Errorf("at byte %d: %w", start+int64(skipped), err)
		}
		piece, tokens, err := c.fit(ctx, text, want)
		if err != nil {
			return Prompt{}, 0, err
		}

		switch {
		case tokens > 0 && tokens <= want && len(piece) < len(text), tokens == want:
			c.inexact.add(tokens, want)
			if c.tok == nil {
				tokens = 0
			}
			return Prompt{Text: piece, InputTokens: tokens}, start + int64(skipped), nil
		case whole && start > 0:
			start /= 2 // too near to the end
		case whole:
			return Prompt{}, 0, fmt.Errorf("the file has %d tokens, but one prompt needs %d", tokens, want)
		}
	}
}

// wordStart leaves out what comes before the first word, if the text begins in
// the middle, and a character cut off at the end.
func wordStart(raw []byte, middle, whole bool) (text string, skipped int, err error) {
	if middle {
		for skipped < len(raw) && !utf8.RuneStart(raw[skipped]) {
			skipped++
		}
		for at := skipped; at < len(raw); {
			r, n := utf8.DecodeRune(raw[at:])
			if at += n; unicode.IsSpace(r) {
				skipped = at
				break
			}
		}
	}

	raw = raw[skipped:]
	if !whole {
		for cut := 1; cut < utf8.UTFMax && cut <= len(raw); cut++ {
			if b := raw[len(raw)-cut]; utf8.RuneStart(b) {
				if !utf8.FullRune(raw[len(raw)-cut:]) {
					raw = raw[:len(raw)-cut]
				}
				break
			}
		}
	}

	if !utf8.Valid(raw) {
		return "", skipped, errors.New("the file is not UTF-8 text")
	}

	return string(raw), skipped, nil
}

// fit returns the longest beginning of text that has want tokens, or the count
// of the whole text if it has fewer.
func (c *cutter) fit(ctx context.Context, text string, want int) (string, int, error) {
	counts := map[int]int{}
	count := func(end int) (int, error) {
		if n, ok := counts[end]; ok {
			return n, nil
		}
		n, err := countTokens(ctx, c.tok, text[:end])
		counts[end] = n
		return n, err
	}

	total, err := count(len(text))
	if err != nil || total <= want {
		return text, total, err
	}
	if end, ok, err := c.guess(ctx, text, want); err != nil || ok {
		return text[:end], want, err
	}

	ends := runeEnds(text)
	var failed error
	first := sort.Search(len(ends), func(i int) bool { // the first that is too long
		n, err := count(ends[i])
		failed = errors.Join(failed, err)
		return failed != nil || n > want
	})

	if failed != nil || first == 0 {
		return "", 0, failed
	}

	tokens, err := count(ends[first-1])
	return text[:ends[first-1]], tokens, err
}

// guess tries the text of the first tokens, which nearly always is it.
func (c *cutter) guess(ctx context.Context, text string, want int) (end int, ok bool, err error) {
	dec, can := c.tok.(Decoder)
	if _, local := c.tok.(Vocabulary); !can || !local {
		return 0, false, nil
	}

	ids, err := c.tok.Encode(ctx, text, false)
	if err != nil || len(ids) < want {
		return 0, false, err
	}

	ids = ids[:max(0, want-c.tok.(Vocabulary).SpecialAdded())]
	piece, err := dec.Decode(ctx, ids)
	if err != nil || len(piece) > len(text) || piece == "" || piece != text[:len(piece)] {
		return 0, false, err
	}

	n, err := countTokens(ctx, c.tok, piece)
	return len(piece), n == want, err
}

// runeEnds are the places where a text may be cut.
func runeEnds(text string) []int {
	var ends []int
	for at := range text {
		if at > 0 {
			ends = append(ends, at)
		}
	}
	return append(ends, len(text))
}
