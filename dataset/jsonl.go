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

	"benchrig/dataset/prng"
)

// buildJSONL reads a file with one JSON object a line:
//
//	{"prompt": "text", "output_tokens": 100}
//	{"prompt_token_ids": [1, 2, 3]}
//	{"messages": [{"role": "user", "content": "text"}]}
//
// output_tokens may be left out, other keys are ignored, blank lines are
// skipped, and Spec.OutputLen goes before a line's own. Shuffling and repeats
// are those of vLLM's custom dataset.
func buildJSONL(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error) {
	if err := spec.checkPath(); err != nil {
		return nil, err
	}
	file, err := os.Open(spec.Path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", spec.Path, cause(err))
	}
	defer file.Close()
	prompts, err := readJSONL(ctx, file, spec.Path)
	if err != nil {
		return nil, err
	}
	if spec.Shuffle {
		prng.NewPython(spec.Seed).Shuffle(len(prompts), func(i, j int) { prompts[i], prompts[j] = prompts[j], prompts[i] })
	}
	prompts = prompts[:min(spec.N, len(prompts))]
	if err := complete(ctx, prompts, spec.OutputLen, tok); err != nil {
		return nil, fmt.Errorf("read %s: %w", spec.Path, err)
	}
	return oversample(prompts, spec), nil
}

// complete sets the output length asked for and counts the texts.
func complete(ctx context.Context, prompts []Prompt, outputLen int, tok Tokenizer) error {
	for i := range prompts {
		p := &prompts[i]
		if outputLen > 0 {
			p.OutputTokens = outputLen
		}
		if p.TokenIDs != nil || tok == nil {
			continue
		}
		tokens, err := countTokens(ctx, tok, p.Text)
		if err != nil {
			return err
		}
		p.InputTokens = tokens
	}
	return nil
}

// readJSONL returns the prompts of all lines, at least one. Its errors begin
// with the path and the line's number.
func readJSONL(ctx context.Context, r io.Reader, path string) ([]Prompt, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	var prompts []Prompt
	for number := 1; ; number++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		line, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read %s: %w", path, cause(err))
		}
		if number == 1 {
			line = bytes.TrimPrefix(line, []byte("\uFEFF"))
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			prompt, bad := parseLine(line)
			if bad != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, number, bad)
			}
			prompts = append(prompts, prompt)
		}
		if err != nil {
			break
		}
	}
	if len(prompts) == 0 {
		return nil, fmt.Errorf("%s: the file has no prompts", path)
	}
	return prompts, nil
}

// jsonLine is the part of a line that is used.
type jsonLine struct {
	Prompt       *string   `json:"prompt"`
	TokenIDs     []int     `json:"prompt_token_ids"`
	Messages     []message `json:"messages"`
	OutputTokens *int      `json:"output_tokens"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func parseLine(line []byte) (Prompt, error) {
	if line[0] == '[' {
		return Prompt{}, errors.New("a JSON array where an object is wanted; kind sharegpt reads one array of conversations")
	}
	var l jsonLine
	if err := json.Unmarshal(line, &l); err != nil {
		return Prompt{}, jsonError(err)
	}
	p, err := l.prompt()
	if err != nil {
		return Prompt{}, err
	}
	if l.OutputTokens != nil {
		if *l.OutputTokens < 1 || *l.OutputTokens > maxTokens {
			return Prompt{}, fmt.Errorf(`"output_tokens" is %d, want 1 to %d`, *l.OutputTokens, maxTokens)
		}
		p.OutputTokens = *l.OutputTokens
	}
	return p, nil
}

// prompt takes the one form of prompt that the line has.
func (l jsonLine) prompt() (Prompt, error) {
	forms := 0
	for _, given := range []bool{l.Prompt != nil, l.TokenIDs != nil, l.Messages != nil} {
		if given {
			forms++
		}
	}
	switch {
	case forms == 0:
		return Prompt{}, errors.New(`no "prompt", "prompt_token_ids" or "messages"`)
	case forms > 1:
		return Prompt{}, errors.New(`more than one of "prompt", "prompt_token_ids" and "messages": want one`)
	case l.TokenIDs != nil:
		return idsPrompt(l.TokenIDs)
	case l.Messages != nil:
		return messagesPrompt(l.Messages)
	case *l.Prompt == "":
		return Prompt{}, errors.New(`"prompt" is empty`)
	}
	return Prompt{Text: *l.Prompt}, nil
}

func idsPrompt(ids []int) (Prompt, error) {
	if len(ids) == 0 {
		return Prompt{}, errors.New(`"prompt_token_ids" is empty`)
	}
	for i, id := range ids {
		if id < 0 {
			return Prompt{}, fmt.Errorf(`"prompt_token_ids"[%d] is %d: ids are not negative`, i, id)
		}
	}
	return Prompt{TokenIDs: ids, InputTokens: len(ids)}, nil
}

// messagesPrompt accepts the one conversation that a single text stands for.
func messagesPrompt(messages []message) (Prompt, error) {
	switch {
	case len(messages) != 1:
		return Prompt{}, fmt.Errorf(`"messages" has %d messages: only a single user message can be sent`, len(messages))
	case messages[0].Role != "user":
		return Prompt{}, fmt.Errorf(`"messages" has a message of role %q: only a single user message can be sent`, messages[0].Role)
	case messages[0].Content == "":
		return Prompt{}, errors.New(`"messages" has an empty message`)
	}
	return Prompt{Text: messages[0].Content}, nil
}
