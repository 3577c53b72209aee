package text

import "strings"

// Shorten puts a text on one line and cuts it to what a message can quote.
func Shorten(text string) string {
	const limit = 300 // bytes

	text = strings.Join(strings.Fields(text), " ")
	if len(text) > limit {
		return strings.ToValidUTF8(text[:limit], "") + " ..."
	}

	return text
}
