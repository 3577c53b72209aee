package llamabench

import "bytes"

// WithoutNaN writes null in place of what C and Python print for numbers that
// JSON does not have, outside of strings, where a value may stand.
func WithoutNaN(data []byte) []byte {
	var out []byte
	copied := 0
	for i := 0; i < len(data); {
		switch data[i] {
		case '"':
			i = stringEnd(data, i)
			continue
		case ':', ',', '[':
			start := i + 1
			for start < len(data) && (data[start] == ' ' || data[start] == '\t' || data[start] == '\n' ||
				data[start] == '\r') {
				start++
			}
			if n := notNumber(data[start:]); n > 0 {
				out = append(append(out, data[copied:start]...), "null"...)
				copied = start + n
				i = copied
				continue
			}
		}
		i++
	}

	if copied == 0 {
		return data
	}

	return append(out, data[copied:]...)
}

// notNumber is the length of a word for no number at the beginning; 0: none there.
func notNumber(data []byte) int {
	signed := 0
	if len(data) > 0 && (data[0] == '-' || data[0] == '+') {
		signed = 1
	}
	for _, word := range []string{"infinity", "nan(ind)", "nan(snan)", "nan", "inf"} {
		end := signed + len(word)
		if len(data) >= end && bytes.EqualFold(data[signed:end], []byte(word)) &&
			(len(data) == end || !isLetter(data[end])) {
			return end
		}
	}
	return 0
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// stringEnd is the index behind the string that begins at i. A quote that is
// not closed on its line is not a string: it is some text around the results.
func stringEnd(data []byte, i int) int {
	for k := i + 1; k < len(data); k++ {
		switch data[k] {
		case '\\':
			k++
		case '"':
			return k + 1
		case '\n':
			return i + 1
		}
	}
	return i + 1
}
