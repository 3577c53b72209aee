package device

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ReadText is the trimmed text of a small file; "" if it cannot be read.
func ReadText(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// TextOf is the trimmed text of a file; nil if it cannot be read or is empty.
func TextOf(path string) *string {
	text := ReadText(path)
	if text == "" {
		return nil
	}
	return &text
}

// FirstText is the text of the first of the files under root that has any.
func FirstText(root string, names ...string) *string {
	at := slices.IndexFunc(names, func(name string) bool { return TextOf(filepath.Join("/", root, name)) != nil })
	if at < 0 {
		return nil
	}
	return TextOf(filepath.Join("/", root, names[at]))
}

// Digits reports whether text consists of one or more decimal digits and nothing else.
func Digits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// FirstLine returns the first line of a program's output that is not blank, clipped for a message.
func FirstLine(out []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return Clip(line)
}

// Clip shortens text for a message.
func Clip(text string) string {
	const most = 200
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// LastLine is where a Python program says what went wrong.
func LastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return Clip(lines[len(lines)-1])
}

// NormalPCI spells an address with four digits of domain, in lower case:
// NVIDIA writes 00000000:C1:00.0, sysfs 0000:c1:00.0.
func NormalPCI(address string) string {
	address = strings.ToLower(address)
	domain, rest, ok := strings.Cut(address, ":")
	if ok && len(domain) == 8 && strings.HasPrefix(domain, "0000") {
		return domain[4:] + ":" + rest
	}
	return address
}
