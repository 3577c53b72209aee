package dataset

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/benchrig/bench/dataset/audio"
	"github.com/benchrig/bench/dataset/table"
	"github.com/benchrig/bench/internal/userfile"
)

// Meta says where a frozen set comes from.
type Meta struct {
	Spec            Spec   // that it was built from
	Tokenizer       string // name; "" if nothing was counted
	TokenizerSHA256 string // of the tokenizer's file, hex; "" if there is none
}

// frozenFormat and frozenVersion are the first fields of a frozen set.
const (
	frozenFormat  = "bench prompts"
	frozenVersion = 1
)

// frozenHeader is the first line of a frozen set.
type frozenHeader struct {
	Format          string   `json:"format"`
	Version         int      `json:"version"`
	Prompts         int      `json:"prompts"`
	SHA256          string   `json:"sha256"` // as Set's
	Tokenizer       string   `json:"tokenizer,omitempty"`
	TokenizerSHA256 string   `json:"tokenizer_sha256,omitempty"`
	NumpyDrawn      uint64   `json:"numpy_drawn,omitempty"`
	Notes           []string `json:"notes,omitempty"`
	Spec            Spec     `json:"spec"`
}

// Write freezes a set: a line about it, then one line a prompt. Kind "frozen"
// reads it back and checks that nothing has changed.
func Write(w io.Writer, set *Set, meta Meta) error {
	out := bufio.NewWriter(w)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(frozenHeader{
		Format: frozenFormat, Version: frozenVersion, Prompts: len(set.Prompts), SHA256: digest(set.Prompts),
		Tokenizer: meta.Tokenizer, TokenizerSHA256: meta.TokenizerSHA256, NumpyDrawn: set.NumpyDrawn,
		Notes: set.Notes, Spec: meta.Spec,
	}); err != nil {
		return fmt.Errorf("write prompts: %w", err)
	}

	for i, p := range set.Prompts {
		if err := p.writable(); err != nil {
			return fmt.Errorf("write prompts: prompt %d: %w", i+1, err)
		}
		if err := encoder.Encode(p); err != nil {
			return fmt.Errorf("write prompts: %w", err)
		}
	}

	if err := out.Flush(); err != nil {
		return fmt.Errorf("write prompts: %w", err)
	}

	return nil
}

// writable: JSON holds only UTF-8, anything else would come back as another text.
func (p Prompt) writable() error {
	texts := slices.Concat([]string{p.Text}, p.Images, p.Texts)
	for _, t := range p.Turns {
		texts = append(texts, t.Text)
	}
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return fmt.Errorf("%.40q is not UTF-8", text)
		}
	}
	return nil
}

// buildFrozen reads the first N prompts of a set that Write wrote, and repeats
// some where there are fewer.
func buildFrozen(ctx context.Context, file *os.File, spec Spec, _ Tokenizer) (*Set, error) {
	set, err := readFrozen(ctx, file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", spec.Path, err)
	}

	all := len(set.Prompts)
	timed := slices.ContainsFunc(set.Prompts, func(p Prompt) bool { return p.At != nil })
	spec.NoOversample = spec.NoOversample || timed // as with the trace itself: a repeat has no time of its own
	out := oversample(set.Prompts[:min(spec.N, all)], spec)
	out.Notes = append(set.Notes, out.Notes...)
	out.NumpyDrawn = set.NumpyDrawn
	if spec.N < all {
		out.Notes = append(out.Notes, fmt.Sprintf("the first %d of %d frozen prompts", spec.N, all))
	}

	for i := range out.Prompts {
		if spec.OutputLen > 0 {
			out.Prompts[i].OutputTokens = spec.OutputLen
		}
	}

	return out, nil
}

// ReadFrozen reads the line about a frozen set.
func ReadFrozen(r io.Reader) (Meta, error) {
	line, err := table.ReadLine(bufio.NewReader(r), nil)
	if err != nil && !errors.Is(err, io.EOF) {
		return Meta{}, table.Cause(err)
	}
	h, err := parseHeader(bytes.TrimSpace(line))
	return Meta{h.Spec, h.Tokenizer, h.TokenizerSHA256}, err
}

func parseHeader(line []byte) (h frozenHeader, err error) {
	if len(line) == 0 {
		return h, errors.New("the file is empty")
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return h, fmt.Errorf("first line: %w", table.JSONError(err))
	}
	switch {
	case h.Format != frozenFormat:
		return h, fmt.Errorf("no frozen prompts: the first line has format %q, want %q", h.Format, frozenFormat)
	case h.Version != frozenVersion:
		return h, fmt.Errorf("frozen prompts of version %d: this program reads version %d", h.Version, frozenVersion)
	}
	return h, nil
}

// readFrozen reads a whole frozen set and checks its hash.
func readFrozen(ctx context.Context, r io.Reader) (*Set, error) {
	var h *frozenHeader
	set := &Set{}
	err := table.EachLine(ctx, r, func(number int, _ table.Span, line []byte) error {
		if h == nil {
			read, err := parseHeader(line)
			h = &read
			return err
		}
		p, err := parseFrozen(line)
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		set.Prompts = append(set.Prompts, p)
		return nil
	})

	switch {
	case err != nil:
		return nil, err
	case h == nil:
		return nil, errors.New("the file is empty")
	case len(set.Prompts) != h.Prompts:
		return nil, fmt.Errorf("%d prompts, its first line says %d: the file was cut off or changed", len(set.Prompts),
			h.Prompts)
	case len(set.Prompts) == 0:
		return nil, errors.New("the file has no prompts")
	}

	if sum := digest(set.Prompts); sum != h.SHA256 {
		return nil, fmt.Errorf("its prompts have SHA-256 %.12s..., its first line says %.12s...: the file was changed",
			sum, h.SHA256)
	}

	set.Notes, set.NumpyDrawn = h.Notes, h.NumpyDrawn
	return set, nil
}

func parseFrozen(line []byte) (Prompt, error) {
	var p Prompt
	if err := json.Unmarshal(line, &p); err != nil {
		return Prompt{}, table.JSONError(err)
	}
	given := 0
	for _, is := range []bool{p.Text != "", len(p.TokenIDs) > 0, len(p.Audio) > 0} {
		if is {
			given++
		}
	}
	if given != 1 {
		return Prompt{}, errors.New(`want one of "text", "token_ids" and "audio"`)
	}
	for _, t := range append(p.Turns, Turn{InputTokens: p.InputTokens, OutputTokens: p.OutputTokens}) {
		if t.InputTokens < 0 || t.OutputTokens < 0 || t.OutputTokens > maxTokens || p.Group < 0 {
			return Prompt{}, errors.New("negative or impossible numbers")
		}
	}

	var err error
	if p.Audio != nil {
		p.AudioS, err = audio.Seconds(p.Audio)
	}
	return p, err
}

// Frozen reads a whole frozen set, and what it was made from.
func Frozen(ctx context.Context, path string) (*Set, Meta, error) {
	file, err := userfile.Open(path)
	if err != nil {
		return nil, Meta{}, err
	}
	defer file.Close()

	meta, err := ReadFrozen(file)
	if err != nil {
		return nil, meta, fmt.Errorf("read %s: %w", path, err)
	}
	lines, err := countLines(file)
	if err != nil {
		return nil, meta, err
	}

	set, err := Build(ctx, Spec{Kind: "frozen", Path: path, N: max(1, lines-1), NoOversample: true}, nil)
	return set, meta, err
}

// countLines counts the lines of a whole file.
func countLines(file *os.File) (int, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	n := 0
	for buf := make([]byte, 64<<10); ; {
		read, err := file.Read(buf)
		n += bytes.Count(buf[:read], []byte("\n"))
		switch {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return 0, err
		}
	}
}
