package tokenizer

import "fmt"

// maxID bounds ids, so that a hostile file cannot ask for endless memory.
const maxID = 1 << 22

// vocabulary maps tokens to ids and back. Ids may have holes.
type vocabulary struct {
	ids   map[string]int
	texts []string
	taken []bool
	count int
}

func newVocabulary(size int) *vocabulary {
	return &vocabulary{
		ids:   make(map[string]int, size),
		texts: make([]string, 0, size),
		taken: make([]bool, 0, size),
	}
}

// add gives an id to a token; both must be new.
func (v *vocabulary) add(text string, id int) error {
	if id < 0 || id >= maxID {
		return fmt.Errorf("token %q: id %d is not in [0, %d)", text, id, maxID)
	}
	if have, there := v.ids[text]; there {
		return fmt.Errorf("token %q: has the ids %d and %d", text, have, id)
	}
	if missing := id + 1 - len(v.texts); missing > 0 {
		v.texts = append(v.texts, make([]string, missing)...)
		v.taken = append(v.taken, make([]bool, missing)...)
	}
	if v.taken[id] {
		return fmt.Errorf("token %q: id %d belongs to %q", text, id, v.texts[id])
	}
	v.ids[text], v.texts[id], v.taken[id] = id, text, true
	v.count++
	return nil
}

func (v *vocabulary) id(text string) (int, bool) {
	id, ok := v.ids[text]
	return id, ok
}

func (v *vocabulary) text(id int) (string, bool) {
	if id < 0 || id >= len(v.texts) || !v.taken[id] {
		return "", false
	}
	return v.texts[id], true
}

func (v *vocabulary) size() int { return v.count }
