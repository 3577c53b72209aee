package event

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/load/dialect/rawjson"
)

// FaultValue returns raw unless it says that there is no error.
func FaultValue(raw []byte) []byte {
	switch string(raw) {
	case "", "null", "false", `""`:
		return nil
	}
	return raw
}

// FaultIn returns the error that a JSON object reports in its member "error";
// nil: it reports none, or is not an object.
func FaultIn(object []byte) []byte { return FaultValue(rawjson.Object(object)["error"]) }

// FaultMessage returns the message of an error value, with type and code where it
// has them, else the value as it stands, cut to limit bytes.
func FaultMessage(raw []byte, limit int) string {
	if s := rawjson.Text(raw); s != "" {
		return Cut(s, limit)
	}
	fields := rawjson.Object(raw)
	message := cmp.Or(rawjson.Text(fields["message"]), rawjson.Text(fields["msg"]))
	if message == "" {
		return Cut(string(raw), limit)
	}
	var notes []string
	for _, name := range []string{"type", "code"} {
		if v := fields[name]; len(v) > 0 && string(v) != "null" {
			notes = append(notes, name+" "+strings.Trim(string(v), `"`))
		}
	}
	message = Cut(ownWords(message), limit)
	if len(notes) > 0 {
		message += " (" + strings.Join(notes, ", ") + ")"
	}

	return message
}

// pydanticError is one entry of vLLM's message about a body that it refuses: a
// Python dictionary with place, message and the whole input.
var pydanticError = regexp.MustCompile(`'loc': \(([^)]*)\), 'msg': ('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")`)

// ownWords takes the messages and their places out of a validation error, which
// also repeats the input and a file of the server. Other messages stay as they
// are.
func ownWords(message string) string {
	if !strings.Contains(message, "validation error") {
		return message
	}

	var all []string
	for _, found := range pydanticError.FindAllStringSubmatch(message, -1) {
		place := strings.NewReplacer("'body'", "", "'", "", ", ", ".", ",", "").Replace(found[1])
		said := strings.TrimPrefix(found[2][1:len(found[2])-1], "Value error, ")
		if place = strings.Trim(place, "."); place != "" {
			said = place + ": " + said
		}
		if !slices.Contains(all, said) { // it is written twice
			all = append(all, said)
		}
	}

	if all == nil {
		return message
	}
	return strings.Join(all, "; ")
}

// BodyMessage returns the server's message in the body of an answer that is not a
// stream: that of a JSON error, else the body itself, cut to limit bytes.
func BodyMessage(body []byte, limit int) string {
	fields := rawjson.Object(body)
	for _, name := range []string{"error", "message", "detail", "errors"} {
		if v := FaultValue(fields[name]); v != nil {
			if s := rawjson.Text(v); s != "" || name == "error" {
				return FaultMessage(v, limit)
			}
			return Cut(string(v), limit)
		}
	}
	return Cut(strings.TrimSpace(string(body)), limit)
}

// Cut shortens s to limit bytes without splitting a character.
func Cut(s string, limit int) string {
	s = secrets.Known().Text(s) // before it is cut: a part of a secret is not recognised afterwards
	if len(s) <= limit {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(strings.ToValidUTF8(s[:limit], ""), "\uFFFD") + "..."
}

// DescribeJSONTrouble returns an error that shows an event which is not JSON.
func DescribeJSONTrouble(data []byte) error {
	if strings.HasPrefix(string(data), "{") && strings.Contains(string(data), "}\n{") {
		return fmt.Errorf("one event holds several JSON values: the server ends its events with one newline, not "+
			"two: %q", Cut(string(data), 200))
	}
	return fmt.Errorf("event data is not JSON: %q", Cut(string(data), 200))
}
