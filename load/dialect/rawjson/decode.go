package rawjson

import (
	"bytes"
	"encoding/json"
	"math"
)

// maxMembers is how many members a JSON object may have, so that one whose names
// are short does not cost many times its size.
const maxMembers = 1 << 16

// Object returns the members of a JSON object; nil if raw is anything else.
func Object(raw []byte) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if bytes.Count(raw, []byte(`":`)) > maxMembers || json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// Array returns the elements of a JSON array; nil if raw is anything else.
func Array(raw []byte) []json.RawMessage {
	var a []json.RawMessage
	if json.Unmarshal(raw, &a) != nil {
		return nil
	}
	return a
}

// Text returns the text of a JSON string; "" if raw is anything else.
func Text(raw []byte) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// number is Count by encoding/json.
func number(raw []byte) int {
	var v *float64
	if json.Unmarshal(raw, &v) != nil || v == nil || *v < 0 || *v > 1<<53 || *v != math.Trunc(*v) {
		return -1
	}
	return int(*v)
}

// IsFilled reports whether raw is a JSON array or object, by its first byte, that
// is not empty.
func IsFilled(raw []byte, open byte) bool {
	return len(raw) > 2 && raw[0] == open && len(bytes.TrimSpace(raw[1:len(raw)-1])) > 0
}
