package dataset

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
)

// utterance is one message of a recorded conversation.
type utterance struct {
	role string // "" if nobody says
	text string
}

// exchange is what a user said and, if it is known, what was answered.
type exchange struct{ asked, answered string }

// roles of users and of those who only set the scene; others answer.
var (
	userRoles  = []string{"user", "human", "prompter", "question"}
	sceneRoles = []string{"system", "tool", "function"}
)

// exchanges pairs what users said with what follows. Where no roles are known,
// the first speaker is the user and speakers take turns.
func exchanges(said []utterance) []exchange {
	var out []exchange
	for i := range said {
		if !isUser(said[i], i) || said[i].text == "" {
			continue
		}
		e := exchange{asked: said[i].text}
		if i+1 < len(said) && !isUser(said[i+1], i+1) && !slices.Contains(sceneRoles, said[i+1].role) {
			e.answered = said[i+1].text
		}
		out = append(out, e)
	}
	return out
}

func isUser(u utterance, i int) bool {
	if u.role == "" {
		return i%2 == 0
	}
	return slices.Contains(userRoles, u.role)
}

// turnsPrompt makes a prompt of the first turns of a conversation; ok is false
// if there are fewer of them, or if one does not pass vLLM's filter. Only a
// single turn may be without an answer, as those of files of prompts are.
func turnsPrompt(ctx context.Context, said []exchange, spec Spec, tok Tokenizer) (p Prompt, ok bool, err error) {
	turns := orElse(spec.Turns, 1)
	if len(said) < turns {
		return Prompt{}, false, ctx.Err()
	}
	for i, e := range said[:turns] {
		asked, err := countTokens(ctx, tok, e.asked)
		if err != nil {
			return Prompt{}, false, err
		}
		answered, fixed := spec.OutputLen, spec.OutputLen > 0 || turns == 1 && e.answered == ""
		if !fixed {
			if answered, err = countTokens(ctx, tok, e.answered); err != nil {
				return Prompt{}, false, err
			}
		}
		if !keepTurn(asked, answered, fixed) {
			return Prompt{}, false, nil
		}
		if i > 0 {
			p.Turns = append(p.Turns, Turn{e.asked, answered})
			continue
		}
		p.Text, p.OutputTokens = e.asked, answered
		if tok != nil {
			p.InputTokens = asked
		}
	}
	return p, true, nil
}

// jsonMessage is a message in the layouts of common chat datasets.
type jsonMessage struct {
	From    string  `json:"from"`
	Role    string  `json:"role"`
	Value   *string `json:"value"`
	Content *string `json:"content"`
	Text    *string `json:"text"`
}

// utterance takes whichever of the names is there.
func (m jsonMessage) utterance() utterance {
	u := utterance{role: m.From}
	if u.role == "" {
		u.role = m.Role
	}
	for _, text := range []*string{m.Value, m.Content, m.Text} {
		if text != nil {
			u.text = *text
			break
		}
	}
	return u
}

// jsonUtterances reads a text, a list of texts, a list of messages, or an
// object of lists.
func jsonUtterances(raw json.RawMessage) ([]utterance, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	switch raw[0] {
	case '"':
		var text string
		err := json.Unmarshal(raw, &text)
		return []utterance{{text: text}}, err
	case '{':
		return jsonColumns(raw)
	}
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, errors.New("want a text or a list of messages")
	}
	var out []utterance
	for _, item := range items {
		if item = bytes.TrimSpace(item); len(item) > 0 && item[0] == '"' {
			said, err := jsonUtterances(item)
			if err != nil {
				return nil, err
			}
			out = append(out, said...)
			continue
		}
		var m jsonMessage
		if err := json.Unmarshal(item, &m); err != nil {
			return nil, jsonError(err)
		}
		out = append(out, m.utterance())
	}
	return out, nil
}

// jsonColumns reads {"from": [...], "value": [...]}.
func jsonColumns(raw json.RawMessage) ([]utterance, error) {
	var c struct {
		From, Role, Value, Content, Text []string
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, jsonError(err)
	}
	roles, texts := c.From, c.Value
	for _, other := range [][]string{c.Content, c.Text} {
		if texts == nil {
			texts = other
		}
	}
	if roles == nil {
		roles = c.Role
	}
	return together(roles, texts)
}

// together makes messages of a list of roles, which may be empty, and of texts.
func together(roles, texts []string) ([]utterance, error) {
	if len(roles) > 0 && len(roles) != len(texts) {
		return nil, errors.New("a conversation has another number of roles than of texts")
	}
	out := make([]utterance, len(texts))
	for i, text := range texts {
		out[i].text = text
		if len(roles) > 0 {
			out[i].role = roles[i]
		}
	}
	return out, nil
}
