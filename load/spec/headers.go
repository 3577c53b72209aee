package spec

import (
	"fmt"
	"maps"
	"net/textproto"
	"slices"
	"strings"
)

// framingHeaders say how a message is cut or carried. Only the client that
// writes the message knows that.
var framingHeaders = []string{"Content-Length", "Transfer-Encoding", "Trailer", "Te", "Upgrade", "Expect"}

// HeaderName is the canonical form of an HTTP header's name. It refuses names
// that HTTP does not allow and those that frame a message.
func HeaderName(name string) (string, error) {
	if name == "" || strings.ContainsFunc(name, notToken) {
		return "", fmt.Errorf("invalid HTTP header name %q: want letters, digits and hyphens", name)
	}
	canonical := textproto.CanonicalMIMEHeaderKey(name)
	if slices.Contains(framingHeaders, canonical) {
		return "", fmt.Errorf("HTTP header %q frames the message, so the client sets it itself: leave it out", name)
	}

	return canonical, nil
}

// notToken reports whether a rune is not allowed in a header's name.
func notToken(c rune) bool {
	return c <= ' ' || c >= 127 || strings.ContainsRune(`()<>@,;:\"/[]?={}`, c)
}

// SetHeader sets a header in place of one of the same name, however either is
// written.
func SetHeader(headers map[string]string, name, value string) {
	maps.DeleteFunc(headers, func(have, _ string) bool { return strings.EqualFold(have, name) })
	headers[name] = value
}

// HasHeader reports whether a header of the name is there, however written.
func HasHeader(headers map[string]string, name string) bool {
	for have := range headers {
		if strings.EqualFold(have, name) {
			return true
		}
	}
	return false
}

// CanonicalHeaders are the headers under their canonical names. It refuses what
// HeaderName does, values that end a line, and names that are given twice.
func CanonicalHeaders(headers map[string]string) (map[string]string, error) {
	out := make(map[string]string, len(headers))
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		canonical, err := HeaderName(name)
		if err != nil {
			return nil, err
		}
		if _, twice := out[canonical]; twice {
			return nil, fmt.Errorf("HTTP header %q is given twice", canonical)
		}
		if strings.ContainsAny(headers[name], "\r\n\x00") {
			return nil, fmt.Errorf("invalid HTTP header %q: its value contains a line break", name)
		}
		out[canonical] = headers[name]
	}

	return out, nil
}
