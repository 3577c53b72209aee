package plain

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Decode turns the bytes of a file into UTF-8. A byte order mark says that it is UTF-16,
// or every other one of its first bytes being 0; bytes that are not UTF-8 become
// U+FFFD.
func Decode(data []byte) (text []byte, encoding string) {
	switch {
	case bytes.HasPrefix(data, []byte{0xEF, 0xBB, 0xBF}):
		data = data[3:]
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}):
		return utf16Bytes(data[2:], 0, 1), "utf-16le"
	case bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		return utf16Bytes(data[2:], 1, 0), "utf-16be"
	case hasZeros(data, 1):
		return utf16Bytes(data, 0, 1), "utf-16le"
	case hasZeros(data, 0):
		return utf16Bytes(data, 1, 0), "utf-16be"
	}
	if !utf8.Valid(data) {
		data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	}
	return data, "utf-8"
}

// utf16Bytes reads units whose low and high bytes are at those offsets.
func utf16Bytes(data []byte, low, high int) []byte {
	units := make([]uint16, 0, len(data)/2)
	for i := 0; i+1 < len(data); i += 2 {
		units = append(units, uint16(data[i+low])|uint16(data[i+high])<<8)
	}
	return []byte(string(utf16.Decode(units)))
}

// hasZeros reports whether of the first bytes of a text every other one, from an offset
// on, is 0 and the rest is not: ASCII in UTF-16.
func hasZeros(data []byte, offset int) bool {
	const enough = 16
	if len(data) < enough {
		return false
	}
	for i, c := range data[:enough] {
		if (c == 0) != (i%2 == offset) {
			return false
		}
	}
	return true
}
