package importer

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// decode makes UTF-8 of a file's bytes. Only a byte order mark says that it is
// UTF-16; bytes that are no UTF-8 become U+FFFD.
func decode(data []byte) (text []byte, encoding string) {
	switch {
	case bytes.HasPrefix(data, []byte{0xEF, 0xBB, 0xBF}):
		data = data[3:]
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}):
		return utf16Bytes(data[2:], 0, 1), "utf-16le"
	case bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		return utf16Bytes(data[2:], 1, 0), "utf-16be"
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

// textLine is a line as a terminal shows it, with its number in the file.
type textLine struct {
	no   int
	text string // without escape sequences and blanks at its end
}

var (
	escapes  = regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[@-Z\\-_])`)
	progress = regexp.MustCompile(`\d+%\||\bit/s[\],]|\bs/it[\],]`)
)

// linesOf splits text into lines. Of what a carriage return overwrote, progress
// bars are left out and counted.
func linesOf(text []byte) (lines []textLine, overwritten int) {
	no := 0
	for raw := range bytes.Lines(text) {
		no++
		line := strings.TrimRight(string(raw), "\r\n")
		if strings.IndexByte(line, 0x1b) >= 0 {
			line = escapes.ReplaceAllString(line, "")
		}
		if strings.IndexByte(line, '\r') < 0 {
			lines = append(lines, textLine{no, strings.TrimRight(line, " \t")})
			continue
		}
		parts := strings.Split(line, "\r")
		for i, part := range parts {
			part = strings.TrimRight(part, " \t")
			if i < len(parts)-1 && (part == "" || isProgress(part)) {
				if part != "" {
					overwritten++
				}
				continue
			}
			lines = append(lines, textLine{no, part})
		}
	}

	return lines, overwritten
}

// shown is a line for keeping: long runs of characters beyond ASCII, as bars
// are, are cut to one, and what is longer than anybody reads is cut.
func shown(text string) string {
	var b strings.Builder
	run := 0
	for _, r := range text {
		if b.Len() >= maxText {
			b.WriteString("...")
			break
		}
		switch {
		case r < ' ' && r != '\t':
			continue
		case r >= utf8.RuneSelf:
			run++
		default:
			run = 0
		}
		const longest = 16
		if run <= longest {
			b.WriteRune(r)
		}
	}

	return b.String()
}
