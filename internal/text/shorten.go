package text

import (
	"strings"

	"github.com/benchrig/bench/internal/secrets"
)

// Shorten puts a text on one line and cuts it to what a message can quote.
func Shorten(text string) string {
	const limit = 300 // bytes

	text = secrets.Known().Text(text) // before it is cut: a part of a secret is not recognised afterwards
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > limit {
		return strings.ToValidUTF8(text[:limit], "") + " ..."
	}

	return text
}
