package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// QuoteForShell makes one word for a shell, on one line of printable characters. Words
// with others need a shell that knows $'...': bash, zsh, ksh, busybox.
func QuoteForShell(word string) string {
	const plain = "%+,-./:=@_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	switch {
	case word == "":
		return "''"
	case strings.Trim(word, plain) == "":
		return word
	case utf8.ValidString(word) && !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}

	var b strings.Builder
	for i := range len(word) {
		switch c := word[i]; {
		case c == '\n':
			b.WriteString(`\n`)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		case c == '\\' || c == '\'':
			b.WriteString(`\` + string(c))
		default:
			b.WriteByte(c)
		}
	}

	return "$'" + b.String() + "'"
}
