package tokenizer

import (
	"fmt"
	"slices"
)

// addHFTokens takes the added tokens of the file and of the configuration.
func (t *Tokenizer) addHFTokens(f *hfFile, cfg *config) error {
	n, err := newNormalizer(f.Normalizer, 0)
	if err == nil {
		err = checkGrowth(f.Normalizer)
	}
	if err != nil {
		return fmt.Errorf("normalizer: %w", err)
	}

	added := &addedList{vocab: t.vocab, byContent: map[string]int{}}
	for _, token := range f.AddedTokens {
		if err := added.take(token, token.ID); err != nil {
			return fmt.Errorf("added_tokens: %w", err)
		}
	}

	if cfg != nil {
		if err := cfg.addTokens(added); err != nil {
			return fmt.Errorf("%s: %w", configFile, err)
		}
	}

	t.skipped = map[int]bool{}
	for _, token := range added.tokens {
		if token.Special {
			t.skipped[token.ID] = true
			t.special = append(t.special, token.ID)
		}
	}

	if cfg != nil {
		t.special = nil
		for _, role := range cfg.roles {
			if id, known := t.vocab.anyID(role.Content); known {
				t.special = append(t.special, id)
			}
		}
	}

	slices.Sort(t.special)
	t.special = slices.Compact(t.special)
	t.fragments, err = newAddedTokens(added.inOrder(), n)
	return err
}

// addedList collects added tokens as the library does on loading: one that
// the model knows keeps the model's id, another gets the next free one.
type addedList struct {
	vocab     *vocabulary
	tokens    []addedToken
	byContent map[string]int // index in tokens
	next      int            // 0: not yet known
}

// take adds a token; want is the id that the file says, -1: none.
func (a *addedList) take(token addedToken, want int) error {
	if token.Content == "" {
		return nil
	}
	if index, there := a.byContent[token.Content]; there {
		token.ID = a.tokens[index].ID
		if want >= 0 && want != token.ID {
			return fmt.Errorf("token %q has the ids %d and %d", token.Content, token.ID, want)
		}
		a.tokens[index] = token
		return nil
	}

	id, known := a.vocab.id(token.Content)
	if !known {
		// The number of tokens, or one more than the highest added so far.
		id = max(a.next, a.vocab.size())
		if a.next == 0 {
			id = a.vocab.size()
		}
	}

	if want >= 0 && want != id {
		return fmt.Errorf("token %q has id %d in the file, and %d where it is loaded", token.Content, want, id)
	}
	if !known {
		if err := a.vocab.addOutside(token.Content, id); err != nil {
			return err
		}
		a.next = id + 1
	}

	token.ID = id
	a.byContent[token.Content] = len(a.tokens)
	a.tokens = append(a.tokens, token)
	return nil
}

// inOrder puts special tokens first: of equal contents the first one counts.
func (a *addedList) inOrder() []addedToken {
	out := slices.Clone(a.tokens)
	slices.SortStableFunc(out, func(x, y addedToken) int {
		switch {
		case x.Special == y.Special:
			return 0
		case x.Special:
			return -1
		}
		return 1
	})
	return out
}
