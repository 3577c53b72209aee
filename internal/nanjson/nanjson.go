// Package nanjson makes JSON of what C and Python print as JSON.
//
// What goes in: a text with JSON in it, in which NaN and infinity are words such as
// "nan" or "-Infinity", as these languages write numbers that JSON does not have. What
// comes out: the same text with a JSON value in place of each such word. It reads
// nothing else of the text.
package nanjson

import "bytes"

// ToNull writes null in place of each number that JSON does not have.
func ToNull(data []byte) []byte {
	return replace(data, func(out, _ []byte) []byte { return append(out, "null"...) })
}

// ToText puts each number that JSON does not have into quotation marks.
func ToText(data []byte) []byte {
	return replace(data, func(out, word []byte) []byte { return append(append(append(out, '"'), word...), '"') })
}

// replace replaces the words outside of strings, where a value may stand.
func replace(data []byte, write func(out, word []byte) []byte) []byte {
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
				out = write(append(out, data[copied:start]...), data[start:start+n])
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

// notNumber returns the length of the word at the start of data that stands for no
// number; 0: there is none.
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

// stringEnd returns the index behind the string that begins at i. A quote that is not
// closed on its line begins no string: it is part of some text around the JSON.
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
