package rawjson

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
)

// ErrNotJSON says that a text is not JSON.
var ErrNotJSON = errors.New("not JSON")

// Walk calls visit for each member of a JSON object, in order, with the
// member's name and the text of its value, both valid for the call only. Of
// other JSON it visits nothing. The error is ErrNotJSON; nothing was visited
// then. It allocates nothing where names hold no escapes.
func Walk(data []byte, visit func(name, value []byte)) error {
	check := Scan(data)
	check.Skip()
	if !check.Complete() {
		return walkSlow(data, visit)
	}
	Inside(data, visit)
	return nil
}

// walkSlow leaves to encoding/json what nests too deep for the scanner.
func walkSlow(data []byte, visit func(name, value []byte)) error {
	if !json.Valid(data) {
		return ErrNotJSON
	}
	m := Object(data)
	for _, name := range slices.Sorted(maps.Keys(m)) {
		visit([]byte(name), m[name])
	}
	return nil
}

// Inside is Walk for a value that is known to be JSON, or is absent. What nests
// too deep for the scanner may be visited twice.
func Inside(value []byte, visit func(name, value []byte)) {
	s := Scan(value)
	if s.members(visit); s.failed {
		_ = walkSlow(value, visit)
	}
}

// members moves over one value and calls visit for each member of an object, as
// Walk does. It fails where the text is not JSON, after members may have been
// visited.
func (s *Scanner) members(visit func(name, value []byte)) {
	if !s.Enter('{') {
		s.Skip()
		return
	}

	n := 0
	for s.More(&n, '}') {
		name := s.Key()
		if value := s.Raw(); !s.failed {
			visit(name, value)
		}
	}
}

// AppendText appends the text of a JSON string to dst; other values give none.
func AppendText(dst, value []byte) []byte {
	return AppendUnquoted(dst, InQuotes(value))
}

// InQuotes returns what is between the quotes of a JSON string, escapes and all;
// nil for other values.
func InQuotes(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return nil
	}
	return value[1 : len(value)-1]
}

// Count is Scanner.Count of one value.
func Count(value []byte) int {
	s := Scan(value)
	return s.Count()
}
