package tokenizer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/dataset/tokenizer/gguf"
	"github.com/benchrig/bench/internal/userfile"
)

// Kinds of tokens in a GGUF file.
const (
	kindNormal      = 1
	kindUnknown     = 2
	kindControl     = 3
	kindUserDefined = 4
	kindUnused      = 5
	kindByte        = 6
)

// Keys of a GGUF file.
const (
	keyModel  = "tokenizer.ggml.model"
	keyPre    = "tokenizer.ggml.pre"
	keyTokens = "tokenizer.ggml.tokens"
	keyScores = "tokenizer.ggml.scores"
	keyKinds  = "tokenizer.ggml.token_type"
	keyMerges = "tokenizer.ggml.merges"
)

// ggufVocabulary is a vocabulary with what GGUF says of each token.
type ggufVocabulary struct {
	*vocabulary
	kinds  []int64
	scores []float64
}

func loadGGUF(path string) (*Tokenizer, error) {
	f, err := userfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	keys, err := gguf.Read(f)
	if err != nil {
		return nil, err
	}
	return newGGUF(keys)
}

// newGGUF builds a tokenizer that gives the ids that llama.cpp gives.
func newGGUF(keys *gguf.Keys) (*Tokenizer, error) {
	kind, _ := keys.Values[keyModel].(string)
	if kind != "llama" && kind != "gpt2" {
		return nil, fmt.Errorf("%s %q: %w", keyModel, kind, errNotImplemented)
	}
	if err := refuseRewritten(keys); err != nil {
		return nil, err
	}

	vocab, err := newGGUFVocabulary(keys)
	if err != nil {
		return nil, err
	}

	t := &Tokenizer{sha256: keys.SHA256, vocab: vocab.vocabulary, vocabSize: vocab.size(), skipped: map[int]bool{}}
	for id, kind := range vocab.kinds {
		if kind == kindControl || kind == kindUnknown {
			t.skipped[id] = true
		}
	}

	bos, eos := true, false
	if kind == "llama" {
		err = t.useSPM(keys, vocab)
	} else {
		bos, err = t.useGGUFMerges(keys, vocab)
	}

	if err != nil {
		return nil, err
	}

	return t, t.useRoles(keys, bos, eos)
}

// refuseRewritten refuses models whose tokens llama.cpp treats otherwise than
// the file says.
func refuseRewritten(keys *gguf.Keys) error {
	name, _ := keys.Values["general.name"].(string)
	arch, _ := keys.Values["general.architecture"].(string)
	for _, special := range []string{"phi-3", "phi3"} {
		if strings.Contains(strings.ToLower(name), special) || arch == special {
			return fmt.Errorf("model %q: blanks after its special tokens: %w", name, errNotImplemented)
		}
	}
	return nil
}

func newGGUFVocabulary(keys *gguf.Keys) (*ggufVocabulary, error) {
	tokens, _ := keys.Values[keyTokens].([]string)
	if len(tokens) == 0 {
		return nil, fmt.Errorf("%s: missing", keyTokens)
	}

	v := &ggufVocabulary{vocabulary: newVocabulary(len(tokens))}
	v.kinds, _ = keys.Values[keyKinds].([]int64)
	v.scores, _ = keys.Values[keyScores].([]float64)
	if len(v.kinds) == 0 {
		v.kinds = slices.Repeat([]int64{kindNormal}, len(tokens))
	}
	if len(v.kinds) != len(tokens) {
		return nil, fmt.Errorf("%s: %d kinds of %d tokens", keyKinds, len(v.kinds), len(tokens))
	}
	if len(v.scores) != 0 && len(v.scores) != len(tokens) {
		return nil, fmt.Errorf("%s: %d scores of %d tokens", keyScores, len(v.scores), len(tokens))
	}

	for id, text := range tokens {
		if err := v.add(text, id); err != nil {
			return nil, err
		}
	}

	return v, v.refuseWrongKinds()
}

// refuseWrongKinds refuses files that give the end of a turn or a place to fill
// as plain text: llama.cpp corrects those by a list that grows with versions.
func (v *ggufVocabulary) refuseWrongKinds() error {
	marks := map[string]bool{}
	for m := range strings.FieldsSeq(`</s> <EOT> _<EOT> ▁<EOT> [EOT] [EOS] <end_of_turn> <end_of_utterance> <turn|>
		<eos> <PRE> <SUF> <MID> <PAD> <REPO>
		▁<PRE> ▁<SUF> ▁<MID> <reponame> <fim_prefix> <fim_suffix> <fim_middle> <fim_pad>
		<fim-prefix> <fim-suffix> <fim-middle> <fim-pad> <fim-repo> [PRE] [SUF] [MID] [PAD] <file_sep> [e~[
		<|tool_response>`) {
		marks[m] = true
	}

	for id, text := range v.texts {
		if v.kinds[id] != kindNormal {
			continue
		}
		inBars := len(text) > 4 && (strings.HasPrefix(text, "<|") && strings.HasSuffix(text, "|>") ||
			strings.HasPrefix(text, "<｜") && strings.HasSuffix(text, "｜>"))
		if marks[text] || inBars {
			return fmt.Errorf("token %q is a normal token: make the file anew with a newer converter", text)
		}
	}

	return nil
}

// useRoles reads which tokens have a role, and what opens and closes a sequence.
func (t *Tokenizer) useRoles(keys *gguf.Keys, bos, eos bool) error {
	ids := map[string]int{}
	for _, role := range []string{"bos", "eos", "eot", "eom", "unknown", "seperator", "padding", "cls", "mask"} { //nolint:misspell // the format spells it so
		key := "tokenizer.ggml." + role + "_token_id"
		value, there := keys.Values[key].(int64)
		if !there {
			continue
		}
		if _, known := t.vocab.text(int(value)); !known {
			return fmt.Errorf("%s: no token has id %d", key, value)
		}
		ids[role] = int(value)
		t.special = append(t.special, int(value))
	}

	slices.Sort(t.special)
	t.special = slices.Compact(t.special)
	if value, there := keys.Values["tokenizer.ggml.add_bos_token"].(bool); there {
		bos = value
	}
	if value, there := keys.Values["tokenizer.ggml.add_eos_token"].(bool); there {
		eos = value
	}
	if value, _ := keys.Values["tokenizer.ggml.add_sep_token"].(bool); value {
		return fmt.Errorf("tokenizer.ggml.add_sep_token: %w", errNotImplemented)
	}

	return t.setEnds(ids, bos, eos)
}

func (t *Tokenizer) setEnds(ids map[string]int, bos, eos bool) error {
	if bos {
		id, known := ids["bos"]
		if !known {
			return errors.New("tokenizer.ggml.bos_token_id: missing, but sequences begin with it")
		}
		t.before = []int{id}
	}

	if eos {
		id, known := ids["eos"]
		if !known {
			return errors.New("tokenizer.ggml.eos_token_id: missing, but sequences end with it")
		}
		t.after = []int{id}
	}

	return nil
}

// ggufDecoder makes text of the tokens of a GGUF vocabulary.
type ggufDecoder struct {
	vocab    *ggufVocabulary
	prefix   string        // the blank that opens a text and is not part of it
	alphabet *byteAlphabet // nil: SentencePiece
}

func (d ggufDecoder) decode(tokens []token) string {
	var out []byte
	for _, t := range tokens {
		out = d.appendToken(out, t)
	}
	text := string(out)
	if len(tokens) > 0 && d.vocab.kinds[tokens[0].id] == kindNormal {
		text = strings.TrimPrefix(text, d.prefix)
	}
	return lossyUTF8(text)
}

func (d ggufDecoder) appendToken(dst []byte, t token) []byte {
	kind := d.vocab.kinds[t.id]
	if kind == kindByte {
		if b, ok := byteToken(t.text); ok {
			return append(dst, b)
		}
	}
	switch {
	case kind != kindNormal && kind != kindUnused:
		return append(dst, t.text...)
	case d.alphabet != nil:
		return d.alphabet.appendBytes(dst, t.text)
	}
	return append(dst, strings.ReplaceAll(t.text, spaceMark, " ")...)
}
