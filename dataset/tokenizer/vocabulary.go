package tokenizer

import "fmt"

// maxID bounds ids, so that a hostile file cannot ask for endless memory.
const maxID = 1 << 22

// vocabulary maps tokens to ids and back. Ids may have holes. Tokens that were
// added are apart: the model must not find them in a word.
type vocabulary struct {
	ids   map[string]int // of the model
	added map[string]int
	texts []string
	taken []bool
	count int
}

func newVocabulary(size int) *vocabulary {
	return &vocabulary{
		ids:   make(map[string]int, size),
		added: map[string]int{},
		texts: make([]string, 0, size),
		taken: make([]bool, 0, size),
	}
}

// add gives an id to a token of the model; both must be new.
func (v *vocabulary) add(text string, id int) error { return v.put(v.ids, text, id) }

// addOutside gives an id to a token that the model does not know.
func (v *vocabulary) addOutside(text string, id int) error { return v.put(v.added, text, id) }

func (v *vocabulary) put(ids map[string]int, text string, id int) error {
	if id < 0 || id >= maxID {
		return fmt.Errorf("token %q: id %d is not in [0, %d)", text, id, maxID)
	}
	if have, there := v.anyID(text); there {
		return fmt.Errorf("token %q: has the ids %d and %d", text, have, id)
	}
	if missing := id + 1 - len(v.texts); missing > 0 {
		v.texts = append(v.texts, make([]string, missing)...)
		v.taken = append(v.taken, make([]bool, missing)...)
	}
	if v.taken[id] {
		return fmt.Errorf("token %q: id %d belongs to %q", text, id, v.texts[id])
	}

	ids[text], v.texts[id], v.taken[id] = id, text, true
	v.count++
	return nil
}

// id is that of a token of the model.
func (v *vocabulary) id(text string) (int, bool) {
	id, ok := v.ids[text]
	return id, ok
}

// anyID is that of a token of the model or an added one.
func (v *vocabulary) anyID(text string) (int, bool) {
	if id, ok := v.ids[text]; ok {
		return id, true
	}
	id, ok := v.added[text]
	return id, ok
}

func (v *vocabulary) text(id int) (string, bool) {
	if id < 0 || id >= len(v.texts) || !v.taken[id] {
		return "", false
	}
	return v.texts[id], true
}

func (v *vocabulary) size() int { return v.count }
