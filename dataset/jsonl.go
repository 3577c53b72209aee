package dataset

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/benchrig/bench/dataset/table"
)

// buildJSONL reads a file with one JSON object a line:
//
//	{"prompt": "text", "output_tokens": 100}
//	{"prompt_token_ids": [1, 2, 3]}
//	{"messages": [{"role": "user", "content": "text"}]}
//	{"prompt": "query", "documents": ["text", "text"]}
//	{"prompt": "text", "tools": [{"type": "function", "function": {"name": "..."}}]}
//
// output_tokens may be left out, other keys are ignored, blank lines are
// skipped, and Spec.OutputLen goes before a line's own. Shuffling and repeats
// are those of vLLM's custom dataset.
func buildJSONL(ctx context.Context, file *os.File, spec Spec, tok Tokenizer) (*Set, error) {
	places, err := indexJSONL(ctx, file, spec.Path)
	if err != nil {
		return nil, err
	}
	if spec.Shuffle {
		shuffle(places, spec.Seed)
	}

	prompts, err := readJSONL(ctx, file, places[:min(spec.N, len(places))])
	if err == nil {
		err = complete(ctx, prompts, spec.OutputLen, tok)
	}
	if err != nil {
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

// indexJSONL checks all lines and returns their places, at least one. Its errors
// begin with the path and the line's number.
func indexJSONL(ctx context.Context, r io.Reader, path string) ([]table.Span, error) {
	var places []table.Span
	bad := false
	err := table.EachLine(ctx, r, func(number int, at table.Span, line []byte) error {
		places = append(places, at)
		if _, err := parseLine(line); err != nil {
			bad = true
			return fmt.Errorf("%s:%d: %w", path, number, err)
		}
		return nil
	})

	switch {
	case bad:
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, err)
	case len(places) == 0:
		return nil, fmt.Errorf("%s: the file has no prompts", path)
	}

	return places, nil
}

// readJSONL returns the prompts at places that were good before.
func readJSONL(ctx context.Context, file io.ReaderAt, places []table.Span) ([]Prompt, error) {
	prompts := make([]Prompt, len(places))
	for i, at := range places {
		raw, err := at.Read(file)
		if err != nil {
			return nil, table.Cause(err)
		}
		line := bytes.TrimSpace(raw)
		if len(line) == 0 {
			return nil, errors.New("the file changed while it was read")
		}
		if prompts[i], err = parseLine(line); err != nil {
			return nil, err
		}
	}

	return prompts, ctx.Err()
}

// jsonLine is the part of a line that is used.
type jsonLine struct {
	Prompt       *string         `json:"prompt"`
	TokenIDs     []int           `json:"prompt_token_ids"`
	Messages     []message       `json:"messages"`
	OutputTokens *int            `json:"output_tokens"`
	Documents    []string        `json:"documents"` // of a query
	Tools        json.RawMessage `json:"tools"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func parseLine(line []byte) (Prompt, error) {
	if line[0] == '[' {
		return Prompt{}, errors.New("a JSON array, expected an object")
	}

	var l jsonLine
	if err := json.Unmarshal(line, &l); err != nil {
		return Prompt{}, table.JSONError(err)
	}

	p, err := l.prompt()
	if err != nil {
		return Prompt{}, err
	}
	if err := l.addTo(&p); err != nil {
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

// addTo adds what goes with a prompt in its request.
func (l jsonLine) addTo(p *Prompt) error {
	if l.Documents != nil {
		if len(l.Documents) == 0 || slices.Contains(l.Documents, "") {
			return errors.New(`"documents" is empty, or has an empty text`)
		}
		if p.TokenIDs != nil {
			return errors.New(`"documents" go with "prompt", not with token ids`)
		}
		p.Texts = l.Documents
	}
	if l.Tools == nil || string(l.Tools) == "null" {
		return nil
	}

	var tools []map[string]any
	var compact bytes.Buffer
	if json.Unmarshal(l.Tools, &tools) != nil || len(tools) == 0 || json.Compact(&compact, l.Tools) != nil {
		return errors.New(`"tools" is not a list of objects`)
	}
	p.Tools = compact.Bytes()
	return nil
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
		return Prompt{}, fmt.Errorf(`"messages" has a message of role %q: only a single user message can be sent`,
			messages[0].Role)
	case messages[0].Content == "":
		return Prompt{}, errors.New(`"messages" has an empty message`)
	}
	return Prompt{Text: messages[0].Content}, nil
}

// buildCustom is vLLM's custom dataset: a file of JSON lines, see buildJSONL.
func buildCustom(ctx context.Context, file *os.File, spec Spec, tok Tokenizer) (*Set, error) {
	if spec.Compat == CompatVLLM010 {
		spec.Seed = 0 // that version never passed the seed on
	}
	set, err := buildJSONL(ctx, file, spec, tok)
	if err != nil {
		return nil, err
	}
	set.Notes = append(set.Notes, "prompts are sent as they are: vLLM's client puts the model's chat template around "+
		"them unless --skip-chat-template")
	return set, nil
}
