package dataset

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/benchrig/bench/dataset/prng"
	"github.com/benchrig/bench/dataset/table"
)

// sonnetTask is what vLLM's client puts before the lines.
const sonnetTask = "Pick as many lines as you can from these poem lines:\n"

// Lengths of vLLM's client where none is asked.
const (
	sonnetInput  = 550
	sonnetOutput = 150
	sonnetPrefix = 200
)

// maxPoem bounds the file, whose lines are all kept.
const maxPoem = 16 << 20

// buildSonnet makes prompts of lines of a text as vLLM's sonnet dataset does:
// the first lines are shared, the others drawn with the seed, as many as fit
// InputLen at the lines' average length. A chat template cannot be applied here;
// TemplateTokens stands for its tokens.
func buildSonnet(ctx context.Context, file *os.File, spec Spec, tok Tokenizer) (*Set, error) {
	lines, err := readLines(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", spec.Path, table.Cause(err))
	}

	spec.InputLen, spec.OutputLen = cmp.Or(spec.InputLen, sonnetInput), cmp.Or(spec.OutputLen, sonnetOutput)
	spec.PrefixLen = cmp.Or(spec.PrefixLen, sonnetPrefix)
	p := poem{lines: lines, tok: tok, template: spec.TemplateTokens}
	set, err := p.prompts(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", spec.Path, err)
	}
	if tok == nil {
		set.Notes = append(set.Notes, estimateNote)
	}
	if spec.TemplateTokens == 0 {
		set.Notes = append(set.Notes, "lengths are those of the bare prompts: vLLM's client counts them with the "+
			"model's chat template")
	}

	return set, nil
}

// readLines returns lines with their ends, at least one.
func readLines(r io.Reader) ([]string, error) {
	in := bufio.NewReader(io.LimitReader(r, maxPoem+1))
	var lines []string
	for total := 0; ; {
		line, err := in.ReadString('\n')
		if total += len(line); total > maxPoem {
			return nil, fmt.Errorf("more than %d MiB of lines", maxPoem>>20)
		}

		if line != "" {
			lines = append(lines, strings.ToValidUTF8(line, "\uFFFD"))
		}

		switch {
		case errors.Is(err, io.EOF) && len(lines) == 0:
			return nil, errors.New("the file is empty")
		case errors.Is(err, io.EOF):
			return lines, nil
		case err != nil:
			return nil, err
		}
	}
}

// poem samples lines.
type poem struct {
	lines    []string
	tok      Tokenizer
	template int // tokens that come on top of a prompt
}

// counts are how many lines a prompt has, and how many of them are shared.
func (p poem) counts(ctx context.Context, spec Spec) (all, shared int, err error) {
	total := 0
	for _, line := range p.lines {
		n, err := countTokens(ctx, p.tok, line)
		if err != nil {
			return 0, 0, err
		}
		total += n
	}

	base, err := countTokens(ctx, p.tok, sonnetTask)
	if err != nil {
		return 0, 0, err
	}

	base += p.template
	average := float64(total) / float64(len(p.lines))
	fit := func(tokens int) int { return int(math.RoundToEven(float64(tokens-base) / average)) }
	all, shared = fit(spec.InputLen), max(0, fit(spec.PrefixLen))
	switch {
	case average == 0:
		return 0, 0, errors.New("its lines have no tokens")
	case spec.InputLen <= base || all < 1:
		return 0, 0, fmt.Errorf("input length %d: want more than the %d tokens of the task", spec.InputLen, base)
	case all < shared:
		return 0, 0, fmt.Errorf("prefix length %d: want at most the input length, %d", spec.PrefixLen, spec.InputLen)
	case spec.Compat == CompatVLLM06 && spec.PrefixLen <= base:
		return 0, 0, fmt.Errorf("prefix length %d: vLLM 0.6 wants more than the %d tokens of the task", spec.PrefixLen,
			base)
	}

	return all, min(shared, len(p.lines)), nil
}

// tooLong bounds how often in a row a prompt may be too long.
const tooLong = 1000

// prompts draws until there are enough that are not longer than asked; vLLM 0.6
// took every one.
func (p poem) prompts(ctx context.Context, spec Spec) (*Set, error) {
	all, shared, err := p.counts(ctx, spec)
	if err != nil {
		return nil, err
	}

	head := sonnetTask + strings.Join(p.lines[:shared], "")
	rng := prng.NewPython(spec.Seed)
	set := &Set{}
	for tries := 0; len(set.Prompts) < spec.N; tries++ {
		if tries == tooLong {
			return nil, fmt.Errorf("input length %d: %d prompts in a row are longer; ask for more, or for a shorter "+
				"prefix", spec.InputLen, tooLong)
		}
		text := strings.Builder{}
		text.WriteString(head)
		for _, index := range rng.Choices(len(p.lines), all-shared) {
			text.WriteString(p.lines[index])
		}
		tokens, err := countTokens(ctx, p.tok, text.String())
		if err != nil {
			return nil, err
		}
		if tokens += p.template; tokens > spec.InputLen && spec.Compat != CompatVLLM06 {
			continue
		}
		tries = -1
		if p.tok == nil {
			tokens = 0
		}
		set.Prompts = append(set.Prompts, Prompt{
			Text: text.String(), InputTokens: tokens,
			OutputTokens: spec.OutputLen,
		})
	}

	return set, nil
}
