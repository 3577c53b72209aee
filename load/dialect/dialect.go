package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/pyjson"
	"github.com/benchrig/bench/load/dialect/event"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/load/toolcall"
)

// codec is one API that servers speak: how a request's body is made, and
// what an event of its stream means.
type codec interface {
	// fields lists the body of the request, in the order to send them.
	fields(o *Common, a Ask) ([]field, error)
	// Parse fills c from the data of one event; an error means that the data
	// cannot be understood.
	Parse(data []byte, c *event.Chunk) error
}

// wholeParser is an API whose whole answers differ in form from the events of its
// streams.
type wholeParser interface {
	parseWhole(data []byte, c *event.Chunk) error
}

// Parser returns how an event of the API's streams is read; see codec.
func (a API) Parser() func(data []byte, c *event.Chunk) error { return a.codec.Parse }

// WholeParser returns how an answer of the API that is not streamed is read.
func (a API) WholeParser() func(data []byte, c *event.Chunk) error {
	if w, ok := a.codec.(wholeParser); ok {
		return w.parseWhole
	}
	return a.codec.Parse
}

// Ask is what one request asks: a prompt, or a turn of a conversation.
type Ask struct {
	Prompt
	Answers []string // to the turns before the one that the request is for
}

// wanted returns the length to ask for in this turn; 0: leave it to the server.
func (a Ask) wanted() int {
	if n := len(a.Answers); n > 0 {
		return a.Turns[n-1].OutputTokens
	}
	return a.OutputTokens
}

// joined returns the conversation up to this turn as one text (see Prompt.Turns).
func (a Ask) joined() string {
	var b strings.Builder
	b.WriteString(a.Text)
	for i, answer := range a.Answers {
		b.WriteString(answer + "\n" + a.Turns[i].Text)
	}
	return b.String()
}

// field is one member of a request body. A value of type []field is an object.
type field struct {
	name  string
	value any
}

// Common is what all requests of a pass have in common.
type Common struct {
	*spec.Settings

	Model string
}

// Of returns what the requests of the prompt's class have in common, for its
// model.
func (o *Common) Of(p Prompt) *Common {
	if p.Class == 0 && p.Model == "" {
		return o
	}
	own := &Common{Settings: o.OfClass(p.Class), Model: o.Model}
	if p.Model != "" {
		own.Model = p.Model
	}
	return own
}

// Encoded is a request body, ready to be sent.
type Encoded struct {
	Body  []byte
	Asked int           // output tokens asked for; 0: none
	Tools *toolcall.Set // that the answer may call; nil: none
}

// Encode returns the body of a request. Fields of Target.Body replace those of
// the same name and otherwise follow them by name.
func (a API) Encode(o *Common, q Ask) (Encoded, error) {
	if err := errors.Join(a.check(q.Prompt), a.checkTools(o, q)); err != nil {
		return Encoded{}, err
	}
	fields, err := bodyFields(a, o, q)
	if err != nil {
		return Encoded{}, err
	}
	fields = merge(fields, o.Body, o.Compat == spec.CompatNone)
	var body []byte
	if a.Audio {
		body, err = encodeForm(fields, q.Audio)
	} else {
		body, err = encodeFields(fields, o.Compat != spec.CompatNone)
	}
	if err != nil {
		return Encoded{}, err
	}
	tools, err := toolsIn(fields)
	return Encoded{Body: body, Asked: askedTokens(fields), Tools: tools}, err
}

func bodyFields(api API, o *Common, a Ask) ([]field, error) {
	if o.Compat != spec.CompatNone {
		return vllmFields(api, o, a)
	}
	return api.codec.fields(o, a)
}

// merge sets members of an object. With deep, a member that is an object in both
// is merged in the same way; else it is replaced.
func merge(fields []field, extra map[string]any, deep bool) []field {
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		f := field{name, extra[name]}
		more, ok := f.value.(map[string]any)
		at := slices.IndexFunc(fields, func(have field) bool { return have.name == name })
		if deep && ok && at >= 0 {
			if inner, isObject := fields[at].value.([]field); isObject {
				f.value = merge(slices.Clone(inner), more, true)
			}
		}
		fields = set(fields, f)
	}
	return fields
}

// set replaces the member of f's name, or appends it.
func set(fields []field, f field) []field {
	at := slices.IndexFunc(fields, func(have field) bool { return have.name == f.name })
	if at < 0 {
		return append(fields, f)
	}
	fields[at] = f
	return fields
}

// encodeFields writes an object as JSON; with python, as Python's json.dumps
// writes it.
func encodeFields(fields []field, python bool) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := writeObject(&b, enc, fields, python); err != nil {
		return nil, err
	}
	if python {
		return pyjson.Respace(b.Bytes()), nil
	}
	return bytes.Clone(b.Bytes()), nil
}

// writeObject writes to b, which is also what enc writes to.
func writeObject(b *bytes.Buffer, enc *json.Encoder, fields []field, python bool) error {
	b.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := writeValue(b, enc, f.name); err != nil {
			return err
		}
		b.WriteByte(':')
		var err error
		switch v := f.value.(type) {
		case []field:
			err = writeObject(b, enc, v, python)
		default:
			if python {
				f.value = pyjson.Value(f.value)
			}
			err = writeValue(b, enc, f.value)
		}
		if err != nil {
			return fmt.Errorf("encode request field %q: %w", f.name, err)
		}
	}

	b.WriteByte('}')
	return nil
}

func writeValue(b *bytes.Buffer, enc *json.Encoder, v any) error {
	if err := enc.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the encoder's newline
	return nil
}

// askedTokens returns the output limit that the fields ask for, under any of the
// names that servers know; 0: none.
func askedTokens(fields []field) int {
	asked := 0
	for _, f := range fields {
		switch f.name {
		case "max_completion_tokens", "max_tokens", "max_output_tokens", "n_predict", "max_new_tokens", "num_predict":
			var n int
			if raw, err := json.Marshal(f.value); err == nil && json.Unmarshal(raw, &n) == nil && n > 0 {
				asked = n
			}
		}
		if inner, ok := f.value.([]field); ok {
			asked = max(asked, askedTokens(inner))
		}
	}
	return asked
}

// Example returns the body of the request for p with the prompt cut short, for
// people to read.
func (a API) Example(o *Common, p Prompt) (string, error) {
	const runes, ids = 60, 8
	p.Text = shorten(p.Text, runes)
	p.TokenIDs = p.TokenIDs[:min(len(p.TokenIDs), ids)]
	p.Texts = slices.Clone(p.Texts[:min(len(p.Texts), ids)])
	for i := range p.Texts {
		p.Texts[i] = shorten(p.Texts[i], runes)
	}
	p.Images = slices.Clone(p.Images)
	for i := range p.Images {
		p.Images[i] = shorten(p.Images[i], runes)
	}

	if len(p.Audio) > 0 {
		p.Audio = fmt.Appendf(nil, "... %d bytes of a WAV file ...", len(p.Audio))
	}

	e, err := a.Encode(o, Ask{Prompt: p})
	return string(e.Body), err
}

func shorten(s string, runes int) string {
	if text := []rune(s); len(text) > runes {
		return strings.ToValidUTF8(string(text[:runes]), "") + "..."
	}
	return s
}
