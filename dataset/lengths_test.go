package dataset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// pairing is a tokenizer whose texts read as fewer tokens than were written:
// ids below 32 are letters, and a letter with its successor reads as one token.
// The model puts a BOS before each prompt.
type pairing struct{}

const (
	pairingLetters = 32
	pairingBOS     = 3 * pairingLetters / 2
)

func (pairing) letter(id int) string { return string(rune('A' + id)) }

func (m pairing) Decode(_ context.Context, ids []int) (string, error) {
	var b strings.Builder
	for _, id := range ids {
		switch {
		case id < pairingLetters:
			b.WriteString(m.letter(id))
		case id < pairingBOS:
			pair := 2 * (id - pairingLetters)
			b.WriteString(m.letter(pair) + m.letter(pair+1))
		}
	}
	return b.String(), nil
}

func (pairing) Encode(_ context.Context, text string, special bool) ([]int, error) {
	var ids []int
	if special {
		ids = append(ids, pairingBOS)
	}
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		id := int(runes[i]-'A') % pairingLetters
		if id%2 == 0 && i+1 < len(runes) && runes[i+1] == runes[i]+1 {
			id = pairingLetters + id/2
			i++
		}
		ids = append(ids, max(0, id))
	}
	return ids, nil
}

func (pairing) VocabSize() int    { return pairingBOS + 1 }
func (pairing) SpecialIDs() []int { return []int{pairingBOS} }
func (pairing) SpecialAdded() int { return 1 }

func lengthOf(t *testing.T, text string, special bool) int {
	t.Helper()
	ids, err := pairing{}.Encode(t.Context(), text, special)
	if err != nil {
		t.Fatal(err)
	}
	return len(ids)
}

const burstFile = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n" +
	"1,GPT-4,50,5,55,x\n2,GPT-4,40,5,45,x\n3,GPT-4,30,5,35,x\n"

// A text of burstgpt has the length that it is said to have; where vLLM's rules
// forbid to mend it, a note says that it has not.
func TestBurstGPTLengths(t *testing.T) {
	path := writeFile(t, burstFile)
	set := build(t, Spec{Kind: "burstgpt", Path: path, N: 3}, pairing{})
	var lengths []int
	for _, p := range set.Prompts {
		if got := lengthOf(t, p.Text, true); got != p.InputTokens {
			t.Errorf("a prompt reads as %d tokens and says %d", got, p.InputTokens)
		}
		lengths = append(lengths, p.InputTokens)
	}
	slices.Sort(lengths)
	if !slices.Equal(lengths, []int{30, 40, 50}) {
		t.Errorf("lengths %v, want 30, 40 and 50; notes %q", lengths, set.Notes)
	}

	set = build(t, Spec{Kind: "burstgpt", Path: path, N: 3, Compat: CompatVLLM}, pairing{})
	if !noteWith(set, "3 prompts not exactly as long as requested,") {
		t.Errorf("notes %q, want the lengths missed under vLLM's rules", set.Notes)
	}
}

// What the model puts around a prompt counts: at the edge of the context a
// prompt that is one token too long is refused.
func TestPrefixRepetitionCountsBOS(t *testing.T) {
	set := build(t, Spec{Kind: "prefix_repetition", N: 20, PrefixLen: 24, SuffixLen: 16, NumPrefixes: 2, OutputLen: 4},
		pairing{})
	longer := 0
	for _, p := range set.Prompts {
		got := lengthOf(t, p.Text, true)
		if got != p.InputTokens {
			t.Errorf("a prompt reads as %d tokens and says %d", got, p.InputTokens)
		}
		if got > 24+16 {
			longer++
		}
	}
	if longer > 0 {
		t.Errorf("%d of 20 prompts are longer than prefix and suffix, notes %q", longer, set.Notes)
	}
}

func TestTurnsAreAsLongAsAsked(t *testing.T) {
	set := build(t, Spec{Kind: "conversation", N: 4, InputLen: 20, SuffixLen: 12, OutputLen: 4, Turns: 3}, bosWords{})
	for _, p := range set.Prompts {
		for _, turn := range p.Turns {
			if got := len(strings.Fields(turn.Text)); got != 12 {
				t.Errorf("a further turn has %d tokens of its own, want 12", got)
			}
		}
		if got := len(strings.Fields(p.Text)); got != 19 {
			t.Errorf("the first turn has %d tokens beside BOS, want 19", got)
		}
	}
}

// bosWords counts words, with a BOS around a prompt.
type bosWords struct{}

func (bosWords) Encode(_ context.Context, text string, special bool) ([]int, error) {
	n := len(strings.Fields(text))
	if special {
		n++
	}
	return make([]int, n), nil
}

func TestShortestPromptWithBOSIsNoted(t *testing.T) {
	set := build(t, Spec{Kind: "random", N: 2, InputLen: 1, OutputLen: 4}, pairing{})
	if set.Prompts[0].InputTokens != 2 || !noteWith(set, "prompts are longer than asked") {
		t.Errorf("%d tokens, notes %q, want 2 and a note", set.Prompts[0].InputTokens, set.Notes)
	}
	if set = build(t, Spec{Kind: "random", N: 2, InputLen: 2, OutputLen: 4}, pairing{}); noteWith(set,
		"longer than asked") {
		t.Errorf("notes %q, want none on lengths", set.Notes)
	}
}

func TestSamePromptsAreNoted(t *testing.T) {
	set := build(t, Spec{Kind: "random", N: 200, InputLen: 2, OutputLen: 4}, pairing{})
	distinct := map[string]bool{}
	for _, p := range set.Prompts {
		distinct[p.Text] = true
	}
	want := fmt.Sprintf("prompts that are the same as another one: %d of 200", 200-len(distinct))
	if len(distinct) == 200 || !noteWith(set, want) {
		t.Errorf("notes %q, want %q", set.Notes, want)
	}
}

// All bits of a seed count.
func TestLongSeeds(t *testing.T) {
	for _, spec := range []Spec{
		{Kind: "prefix_repetition", N: 10, TokenIDs: true, VocabSize: 5000},
		{Kind: "random", N: 3, InputLen: 8, OutputLen: 2, TokenIDs: true, VocabSize: 5000, Compat: CompatVLLM010},
		{Kind: "random", N: 3, InputLen: 8, OutputLen: 2, TokenIDs: true, VocabSize: 5000},
		{
			Kind: "burstgpt", Path: writeFile(t, burstFile+burstFile[strings.Index(burstFile, "\n")+1:]), N: 3,
			TokenIDs: true, VocabSize: 5000, Shuffle: true,
		},
	} {
		spec.Seed = 7
		short := build(t, spec, nil)
		differs := false
		for high := range uint64(8) { // three of six rows may be drawn alike
			spec.Seed = 7 + (high+1)<<32
			differs = differs || build(t, spec, nil).SHA256 != short.SHA256
		}
		if !differs {
			t.Errorf("%s: seeds 7 and 7 + n*2^32 give the same prompts", spec.Kind)
		}
	}
}
