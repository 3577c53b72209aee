package dialect

import (
	"encoding/json"
	"maps"
	"slices"
)

// walk calls visit for each member of a JSON object, in order, with the
// member's name and the text of its value, both valid for the call only. Of
// other JSON it visits nothing. The error says that data is not JSON; nothing
// was visited then. The parsers of native APIs use it: it allocates
// nothing where names hold no escapes.
func walk(data []byte, visit func(name, value []byte)) error {
	check := scanner{b: data}
	check.skip(0)
	if check.failed || !check.atEnd() {
		return walkSlow(data, visit)
	}

	s := scanner{b: data}
	if !s.enter('{') {
		return nil
	}

	n := 0
	for s.more(&n, '}') {
		name, escaped := s.str()
		if escaped {
			name = appendUnquoted(nil, name)
		}
		s.space()
		s.i++ // the colon: the syntax was checked above
		visit(name, scanRaw(&s))
	}

	return nil
}

// walkSlow leaves to encoding/json what nests too deep for the scanner.
func walkSlow(data []byte, visit func(name, value []byte)) error {
	if !json.Valid(data) {
		return errNotJSON
	}
	m := Object(data)
	for _, name := range slices.Sorted(maps.Keys(m)) {
		visit([]byte(name), m[name])
	}
	return nil
}

// inside is walk for a value that is known to be JSON.
func inside(value []byte, visit func(name, value []byte)) { _ = walk(value, visit) }

// appendText appends the text of a JSON string to dst; other values give none.
func appendText(dst, value []byte) []byte {
	return appendUnquoted(dst, inQuotes(value))
}

// inQuotes is what is between the quotes of a JSON string, escapes and all;
// nil for other values.
func inQuotes(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return nil
	}
	return value[1 : len(value)-1]
}

// countOf is number without allocation for plain integers.
func countOf(value []byte) int {
	s := scanner{b: value}
	if n := s.count(); !s.failed {
		return n
	}
	return number(value)
}
