package tokenizer

import "strings"

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
