package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// dialect is one API that servers speak: how a request's body is made, and
// what an event of its stream means.
type dialect interface {
	// fields lists the body of the request for p, in the order to send them.
	fields(o *Options, p Prompt) ([]field, error)
	// parse fills c from the data of one event; an error means that the data
	// cannot be understood.
	parse(data []byte, c *chunk) error
}

// field is one member of a request body.
type field struct {
	name  string
	value any
}

// dialectFor returns the dialect of an API.
func dialectFor(api string) (dialect, error) {
	switch api {
	case "completions":
		return completions{}, nil
	case "chat":
		return chat{}, nil
	}
	return nil, fmt.Errorf("choose API: got %q, want completions or chat", api)
}

// common are the fields that both OpenAI APIs share after the prompt.
func common(o *Options, p Prompt, maxTokens string) []field {
	var f []field
	if p.OutputTokens > 0 {
		f = append(f, field{maxTokens, p.OutputTokens})
	}
	f = append(f, field{"stream", true}, field{"stream_options", map[string]bool{"include_usage": true}})
	if o.Temperature != nil {
		f = append(f, field{"temperature", *o.Temperature})
	}
	if o.IgnoreEOS {
		f = append(f, field{"ignore_eos", true})
	}
	return f
}

// encoded is a request body, ready to be sent.
type encoded struct {
	body  []byte
	asked int // output tokens asked for; 0: none
}

// encode makes the body of the request for p. Fields of Target.Body replace
// those of the same name and otherwise follow them by name.
func encode(d dialect, o *Options, p Prompt) (encoded, error) {
	fields, err := d.fields(o, p)
	if err != nil {
		return encoded{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(o.Target.Body)) {
		at := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		if at < 0 {
			fields = append(fields, field{name: name})
			at = len(fields) - 1
		}
		fields[at].value = o.Target.Body[name]
	}
	body, err := encodeFields(fields)
	if err != nil {
		return encoded{}, err
	}
	return encoded{body: body, asked: askedTokens(fields)}, nil
}

func encodeFields(fields []field) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	separator := byte('{')
	for _, f := range fields {
		b.WriteByte(separator)
		separator = ','
		for _, part := range []any{f.name, f.value} {
			if err := enc.Encode(part); err != nil {
				return nil, fmt.Errorf("encode request field %q: %w", f.name, err)
			}
			b.Truncate(b.Len() - 1) // the encoder's newline
			b.WriteByte(':')
		}
		b.Truncate(b.Len() - 1) // the colon after the value
	}
	b.WriteByte('}')
	return bytes.Clone(b.Bytes()), nil
}

// askedTokens is the output limit that the fields ask for, by any of the names
// that servers know.
func askedTokens(fields []field) int {
	asked := 0
	for _, f := range fields {
		switch f.name {
		case "max_completion_tokens", "max_tokens", "n_predict":
			var n int
			if raw, err := json.Marshal(f.value); err == nil && json.Unmarshal(raw, &n) == nil && n > 0 {
				asked = n
			}
		}
	}
	return asked
}

// checkPrompt refuses a prompt that holds both forms or none.
func checkPrompt(p Prompt) error {
	if (p.Text != "") == (len(p.TokenIDs) > 0) {
		return fmt.Errorf("encode prompt: want either text or token ids, got %d bytes and %d ids", len(p.Text), len(p.TokenIDs))
	}
	return nil
}

// ExampleBody returns the request body that Run would send for p, with the
// prompt cut short: for people to read.
func ExampleBody(o Options, p Prompt) (string, error) {
	d, err := dialectFor(o.Target.API)
	if err != nil {
		return "", err
	}
	const runes, ids = 60, 8
	if text := []rune(p.Text); len(text) > runes {
		p.Text = strings.ToValidUTF8(string(text[:runes]), "") + "..."
	}
	p.TokenIDs = p.TokenIDs[:min(len(p.TokenIDs), ids)]
	e, err := encode(d, &o, p)
	return string(e.body), err
}
