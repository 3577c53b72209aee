package serverlog

import (
	"maps"
	"regexp"
	"strings"
)

// MaxArguments and MaxArgument bound what is kept of the arguments that an engine reports.
const (
	MaxArguments = 256 // kept of what an engine says about its arguments
	MaxArgument  = 400 // bytes of one
)

// parsePython reads name=value pairs as Python prints them: a dictionary, a
// Namespace or a dataclass, with or without what is around the pairs. Values
// stay as they are written but for the quotes of texts; None is left out. What
// cannot be read is left out too.
func parsePython(text string) map[string]string {
	arguments := make(map[string]string)
	for _, pair := range splitPairs(unwrap(text)) {
		name, value, ok := cutPair(pair)
		if !ok || value == "None" || len(arguments) == MaxArguments {
			continue
		}
		if len(value) > MaxArgument {
			value = strings.ToValidUTF8(value[:MaxArgument], "") + " ..."
		}
		arguments[name] = value
	}
	return arguments
}

// unwrap drops {...} and Name(...) around pairs.
func unwrap(text string) string {
	text = strings.TrimSpace(text)
	for _, around := range []string{"{}", "()"} {
		open := strings.IndexByte(text, around[0])
		word := open >= 0 && argumentName.MatchString("a"+text[:open])
		if word && text[len(text)-1] == around[1] {
			return text[open+1 : len(text)-1]
		}
	}
	return text
}

var argumentName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// splitPairs cuts at the commas that are in no quotes and no brackets.
func splitPairs(text string) []string {
	var pairs []string
	depth, begin := 0, 0
	var quote byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case strings.IndexByte("([{<", c) >= 0:
			depth++
		case strings.IndexByte(")]}>", c) >= 0:
			depth--
		case c == ',' && depth <= 0:
			pairs = append(pairs, text[begin:i])
			begin = i + 1
		}
	}

	return append(pairs, text[begin:])
}

// cutPair reads 'name': value or name=value.
func cutPair(pair string) (name, value string, ok bool) {
	pair = strings.TrimSpace(pair)
	cut := strings.IndexAny(pair, "=:")
	if cut < 0 {
		return "", "", false
	}
	name = unquote(strings.TrimSpace(pair[:cut]))
	return name, unquote(strings.TrimSpace(pair[cut+1:])), argumentName.MatchString(name)
}

func unquote(text string) string {
	if len(text) >= 2 && (text[0] == '\'' || text[0] == '"') && text[len(text)-1] == text[0] {
		return text[1 : len(text)-1]
	}
	return text
}

// mergeArguments adds what was reported later; it wins.
func mergeArguments(before, after map[string]string) map[string]string {
	if before == nil {
		return after
	}
	maps.Copy(before, after)
	return before
}
