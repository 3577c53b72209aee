package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
)

// Utterance is one message of a recorded conversation.
type Utterance struct {
	role string // "" if nobody says
	text string
}

// Exchange is what a user said and, if it is known, what was answered.
type Exchange struct{ Asked, Answered string }

// roles of users and of those who only set the scene; others answer.
var (
	userRoles  = []string{"user", "human", "prompter", "question"}
	sceneRoles = []string{"system", "tool", "function"}
)

// Exchanges pairs what users said with what follows. Where no roles are known,
// the first speaker is the user and speakers take turns.
func Exchanges(said []Utterance) []Exchange {
	var out []Exchange
	for i := range said {
		if !isUser(said[i], i) || said[i].text == "" {
			continue
		}
		e := Exchange{Asked: said[i].text}
		if i+1 < len(said) && !isUser(said[i+1], i+1) && !slices.Contains(sceneRoles, said[i+1].role) {
			e.Answered = said[i+1].text
		}
		out = append(out, e)
	}
	return out
}

func isUser(u Utterance, i int) bool {
	if u.role == "" {
		return i%2 == 0
	}
	return slices.Contains(userRoles, u.role)
}

// JSONMessage is a message in the layouts of common chat datasets.
type JSONMessage struct {
	From    string  `json:"from"`
	Role    string  `json:"role"`
	Value   *string `json:"value"`
	Content *string `json:"content"`
	Text    *string `json:"text"`
}

// Utterance takes whichever of the names is there.
func (m JSONMessage) Utterance() Utterance {
	u := Utterance{role: m.From}
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
func jsonUtterances(raw json.RawMessage) ([]Utterance, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}

	switch raw[0] {
	case '"':
		var text string
		err := json.Unmarshal(raw, &text)
		return []Utterance{{text: text}}, err
	case '{':
		return jsonColumns(raw)
	}

	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, errors.New("want a text or a list of messages")
	}

	var out []Utterance
	for _, item := range items {
		if item = bytes.TrimSpace(item); len(item) > 0 && item[0] == '"' {
			said, err := jsonUtterances(item)
			if err != nil {
				return nil, err
			}
			out = append(out, said...)
			continue
		}
		var m JSONMessage
		if err := json.Unmarshal(item, &m); err != nil {
			return nil, JSONError(err)
		}
		out = append(out, m.Utterance())
	}

	return out, nil
}

// jsonColumns reads {"from": [...], "value": [...]}.
func jsonColumns(raw json.RawMessage) ([]Utterance, error) {
	var c struct {
		From, Role, Value, Content, Text []string
	}

	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, JSONError(err)
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
func together(roles, texts []string) ([]Utterance, error) {
	if len(roles) > 0 && len(roles) != len(texts) {
		return nil, errors.New("a conversation has another number of roles than of texts")
	}
	out := make([]Utterance, len(texts))
	for i, text := range texts {
		out[i].text = text
		if len(roles) > 0 {
			out[i].role = roles[i]
		}
	}
	return out, nil
}
