package simengine

import (
	"strings"
	"unicode/utf8"
)

// Token ids: five specials, 256 bytes, then pieces. Prompts may carry ids up
// to DefaultVocabSize, that of Llama 3; ids above the tokenizer's own stand
// for its pieces over again.
const (
	TokenizerSize    = 32000
	DefaultVocabSize = 128256

	TokenBOS   int32 = 1
	tokenEOS   int32 = 2
	TokenStart int32 = 3 // begins a chat message
	TokenEnd   int32 = 4 // ends a chat message
	firstByte  int32 = 5
	firstPiece int32 = firstByte + 256
)

// commonWords get a token each, with and without a leading space.
const commonWords = `
the of and to in is that it for was on are as with his they at be this from have or by one had not but what all
were when we there can an your which their said if do will each about how up out them then she many some so
these would other into has more her two like him see time could no make than first been its who now people my
made over did down only way find use may water long little very after words called just where most know get
through back much before go good new write our used me man too any day same right look think also around another
came come work three word must because does part even place well such here take why things help put years
different away again off went old number great tell men say small every found still between name should home big
give air line set own under read last never us left end along while might next sound below saw something thought
both few those always looked show large often together asked house world going want school important until form
food keep children feet land side without boy once animals life enough took sometimes four head above kind began
almost live page got earth need far hand high year mother light parts country father let night following picture
being study second eyes soon times story boys since white days ever paper hard near sentence better best across
during today others however sure means knew try told young miles sun ways thing whole hear example heard several
change answer room sea against top turned learn point city play toward five using himself usually money seen car
morning body upon family later turn move face door cut done group true half red fish plants living black eat
short run book gave order open ground cold really table remember tree course front space inside ago sad early
learned code model data server system file function value list string type error test user please write explain
question language program computer request response time use case message`

// Tokenizer splits text greedily into the longest known pieces; unknown bytes
// are tokens of their own. Detokenizing gives back the very bytes.
type Tokenizer struct {
	pieces  []string
	ids     map[string]int32
	longest int
	Spoken  []int32 // pieces that answers are made of: a space and a word
}

// NewTokenizer makes the one vocabulary of TokenizerSize tokens. All tokenizers are alike.
func NewTokenizer() *Tokenizer {
	t := &Tokenizer{ids: make(map[string]int32, TokenizerSize)}
	for range firstPiece {
		t.pieces = append(t.pieces, "")
	}

	for b := range 256 {
		t.define(firstByte+int32(b), string([]byte{byte(b)}))
	}

	for w := range strings.FieldsSeq(commonWords) {
		t.addWord(w)
	}

	for _, w := range pieceList() {
		if len(t.pieces)+2 > TokenizerSize {
			break
		}
		t.addWord(w)
	}

	for len(t.pieces) < TokenizerSize {
		t.pieces = append(t.pieces, " ")
	}

	return t
}

func (t *Tokenizer) define(id int32, piece string) {
	t.pieces[id] = piece
	t.ids[piece] = id
	t.longest = max(t.longest, len(piece))
}

// addWord makes tokens of a word with a leading space and of it alone.
func (t *Tokenizer) addWord(w string) {
	for _, piece := range []string{" " + w, w} {
		if _, known := t.ids[piece]; known {
			continue
		}
		t.pieces = append(t.pieces, "")
		id := int32(len(t.pieces) - 1)
		t.define(id, piece)
		if piece[0] == ' ' && len(piece) > 3 {
			t.Spoken = append(t.Spoken, id)
		}
	}
}

// pieceList makes pronounceable pieces, short ones first.
func pieceList() []string {
	onsets := []string{
		"", "b", "c", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w",
		"br", "ch", "cl", "cr", "dr", "fl", "fr", "gr", "pl", "pr", "sh", "sp", "st", "str", "th", "tr",
	}

	vowels := []string{"a", "e", "i", "o", "u", "y", "ai", "ea", "ee", "ie", "oo", "ou"}
	codas := []string{
		"", "b", "c", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "x", "ck", "ct", "ght",
		"ld", "ll", "mp", "nd", "ng", "nt", "rd", "rs", "rt", "ss", "st", "th", "tion", "ment", "ing", "ed", "er", "es",
	}

	var list []string
	for a := 'a'; a <= 'z'; a++ {
		list = append(list, string(a))
	}

	for a := 'a'; a <= 'z'; a++ {
		for b := 'a'; b <= 'z'; b++ {
			list = append(list, string(a)+string(b))
		}
	}

	for _, c := range codas {
		for _, v := range vowels {
			for _, o := range onsets {
				if len(o)+len(v)+len(c) > 2 {
					list = append(list, o+v+c)
				}
			}
		}
	}

	return list
}

// Encode appends the tokens of text.
func (t *Tokenizer) Encode(into []int32, text string) []int32 {
	for len(text) > 0 {
		n := min(t.longest, len(text))
		for n > 1 {
			if _, ok := t.ids[text[:n]]; ok {
				break
			}
			n--
		}
		into = append(into, t.ids[text[:n]])
		text = text[n:]
	}
	return into
}

// Piece is the text of one token; special tokens have none.
func (t *Tokenizer) Piece(id int32) string {
	if id < 0 {
		return ""
	}
	if id >= TokenizerSize {
		id = firstPiece + (id-TokenizerSize)%(TokenizerSize-firstPiece)
	}
	return t.pieces[id]
}

// Decode joins tokens to text; bytes that are not UTF-8 become U+FFFD, as in
// any JSON answer.
func (t *Tokenizer) Decode(ids []int32) string {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(t.Piece(id))
	}
	if s := b.String(); utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}
