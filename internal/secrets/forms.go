package secrets

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// shortestEncoded is the length below which an encoded form could be in any
// text by chance.
const shortestEncoded = 8

// Forms lists how a value may be in text: as it is, within JSON (with and
// without HTML escapes, as ASCII), HTML, URLs, quoted for shells, Go and Python,
// each of these once more within JSON, HTML or a URL, in hex, in base64
// wherever it begins within the encoded text, and with each character escaped. Of a value with an authentication
// scheme, as "Bearer X", X is a value too.
func Forms(value string) []string {
	if value == "" {
		return nil
	}

	all := []string{value}
	if scheme, rest, ok := strings.Cut(value, " "); ok && isScheme(scheme) && len(rest) >= shortestEncoded {
		all = append(all, Forms(strings.TrimSpace(rest))...)
	}
	if lines := strings.Split(value, "\n"); len(lines) > 1 { // a private key, which logs show line by line
		for _, line := range lines {
			if line = strings.TrimSpace(line); len(line) >= shortestEncoded {
				all = append(all, Forms(line)...)
			}
		}
	}
	all = append(all, quotedForms(value)...)
	all = append(all, urlForms(value)...)
	all = append(all, encodedForms(value)...)

	slices.Sort(all)
	all = slices.Compact(all)
	for _, form := range slices.Clone(all) {
		all = append(all, jsonText(form), html.EscapeString(form))
		all = append(all, urlForms(form)...)
	}
	for _, form := range escapedForms(value) {
		all = append(all, form, jsonText(form))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func isScheme(word string) bool {
	switch strings.ToLower(word) {
	case "bearer", "basic", "token", "apikey", "digest":
		return true
	}
	return false
}

// quotedForms are what is between the quotes of several languages.
func quotedForms(value string) []string {
	once := jsonText(value)
	ascii := asciiJSON(value)
	shell := strings.ReplaceAll(value, "'", `'\''`)
	return []string{
		once, plainJSON(value), ascii, upperEscapes(ascii),
		html.EscapeString(value), shell, strings.ReplaceAll(value, "'", `'"'"'`), backslashed(value),
		inner(strconv.Quote(value)), inner(strconv.QuoteToASCII(value)), pythonRepr(value),
	}
}

// urlForms are percent-encodings, in capital and in small hex digits.
func urlForms(value string) []string {
	query, path := url.QueryEscape(value), url.PathEscape(value)
	every := percentEvery(value)
	spaced := strings.ReplaceAll(query, "+", "%20")
	return []string{
		query, path, every, spaced, smallEscapes(query), smallEscapes(path), smallEscapes(every),
		smallEscapes(spaced),
	}
}

// encodedForms are hex and base64. Within a longer text that is encoded as a
// whole a value begins at one of three places of a base64 group; its first and
// last letters then depend on what is beside it and are left out.
func encodedForms(value string) []string {
	if len(value) < shortestEncoded/2 {
		return nil
	}

	small := hex.EncodeToString([]byte(value))
	all := []string{small, strings.ToUpper(small)}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		whole := encoding.EncodeToString([]byte(value))
		all = append(all, whole, strings.TrimRight(whole, "="))
		for shift := range 3 {
			if part := within(encoding, value, shift); len(part) >= shortestEncoded {
				all = append(all, part)
			}
		}
	}
	return all
}

// escapedForms have an escape or a separator for each character, and base64 in
// lines: programs do not write so, but whoever wants to get a secret past a filter.
func escapedForms(value string) []string {
	if len(value) < shortestEncoded/2 {
		return nil
	}

	var all []string
	for _, format := range []string{
		"%%%02x", "%%%02X", `\x%02x`, `\x%02X`, `\%03o`, "&#%d;", "&#x%x;",
		"&#x%X;", "=%02X",
	} {
		all = append(all, eachByte(value, format))
	}
	for _, format := range []string{`\u%04x`, `\u%04X`, "&#%d;", "&#x%x;", "&#x%X;"} {
		all = append(all, eachRune(value, format))
	}
	for _, separator := range []string{" ", ":", "-", ", ", ","} {
		for _, format := range []string{"%02x", "%02X", "0x%02x", "%d"} {
			all = append(all, strings.TrimSuffix(eachByte(value, format+separator), separator))
		}
	}

	whole := base64.StdEncoding.EncodeToString([]byte(value))
	for _, width := range []int{64, 76} {
		lines := slices.Collect(slices.Chunk([]byte(whole), width))
		if len(lines) == 1 {
			continue
		}
		for _, end := range []string{"\n", "\r\n"} {
			all = append(all, string(bytes.Join(lines, []byte(end))))
		}
		for _, line := range lines { // as a log is read
			if len(line) >= shortestEncoded {
				all = append(all, string(line))
			}
		}
	}

	return all
}

func eachByte(value, format string) string {
	var b strings.Builder
	for _, c := range []byte(value) {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

func eachRune(value, format string) string {
	var b strings.Builder
	for _, r := range value {
		fmt.Fprintf(&b, format, r)
	}
	return b.String()
}

// within is the part of a longer text's base64 that only the value decides,
// where the value begins shift bytes after the begin of a group of three.
func within(encoding *base64.Encoding, value string, shift int) string {
	const group = 3
	encoded := encoding.WithPadding(base64.NoPadding).EncodeToString([]byte(strings.Repeat("\x00", shift) + value))
	first := [group]int{0, 2, 3}[shift] // letters that hold bits of what stands before
	whole := (shift + len(value)) / group * 4
	switch (shift + len(value)) % group { // further letters with bits of the value alone
	case 1:
		whole++
	case 2:
		whole += 2
	}
	if first >= whole {
		return ""
	}
	return encoded[first:whole]
}

// jsonText is the value between the quotes of encoding/json's string.
func jsonText(value string) string {
	data, err := json.Marshal(value)
	if err != nil {
		return value // strings can always be encoded
	}
	return inner(string(data))
}

// plainJSON is JSON with the fewest escapes, as most other languages write it.
func plainJSON(value string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(value)
}

// asciiJSON is JSON as Python writes it: all but ASCII as \uXXXX.
func asciiJSON(value string) string {
	var b strings.Builder
	for _, r := range plainJSON(value) {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// upperEscapes writes the hex digits of \uXXXX in capitals.
func upperEscapes(text string) string {
	const escape = 6
	out := []byte(text)
	for i := 0; i+escape <= len(out); i++ {
		if out[i] == '\\' && out[i+1] == 'u' {
			copy(out[i+2:i+escape], strings.ToUpper(text[i+2:i+escape]))
		}
	}
	return string(out)
}

// smallEscapes writes the hex digits of %XX small.
func smallEscapes(text string) string {
	out := []byte(text)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' {
			copy(out[i+1:i+3], strings.ToLower(text[i+1:i+3]))
		}
	}
	return string(out)
}

// percentEvery escapes every byte but letters and digits.
func percentEvery(value string) string {
	var b strings.Builder
	for _, c := range []byte(value) {
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// backslashed is what bash's printf %q makes.
func backslashed(value string) string {
	var b strings.Builder
	for _, r := range value {
		if strings.ContainsRune(" \t|&;<>()$`\\\"'*?[]#~=%!{}^,", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// pythonRepr is the value between the quotes of Python's repr.
func pythonRepr(value string) string {
	quote := ""
	if strings.Contains(value, "'") && strings.Contains(value, `"`) {
		quote = "'"
	}
	text := strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(value)
	if quote != "" {
		text = strings.ReplaceAll(text, quote, `\`+quote)
	}
	return text
}

func inner(quoted string) string { return quoted[1 : len(quoted)-1] }
