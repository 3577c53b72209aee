package endpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// maxTrouble is what is kept of an error, in bytes.
const maxTrouble = 4 << 10

// CompletionTrouble says what is wrong with an answer, in the server's own words;
// "": it is a completion.
func CompletionTrouble(a Answer) string {
	switch {
	case a.Err != nil:
		return a.String()
	case !a.OK():
		return fmt.Sprintf("%s: status %d, %s", a.what, a.Status, Beginning(a.Body, maxTrouble))
	}

	came, err := readToken(bytes.NewReader(oneLine(a.Body)))
	switch {
	case err != nil:
		return fmt.Sprintf("%s: status %d, %v", a.what, a.Status, err)
	case !came && !nativeAnswer(a.Body):
		return fmt.Sprintf("%s: status %d, and no completion in the answer: %s", a.what, a.Status,
			Beginning(a.Body, maxTrouble))
	}

	return ""
}

// nativeAnswer recognizes answers of APIs that are not OpenAI's: TGI's,
// SGLang's and Ollama's own.
func nativeAnswer(body []byte) bool {
	var answer struct {
		Generated string `json:"generated_text"`
		Text      string `json:"text"`
		Response  string `json:"response"`
		Message   delta  `json:"message"`
	}
	return json.Unmarshal(body, &answer) == nil &&
		answer.Generated+answer.Text+answer.Response+answer.Message.Content != ""
}

// oneLine puts a JSON answer that is spread over lines into one, as events
// are; what is not JSON stays.
func oneLine(body []byte) []byte {
	if trimmed := bytes.TrimSpace(body); len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') {
		return bytes.ReplaceAll(bytes.ReplaceAll(trimmed, []byte("\n"), nil), []byte("\r"), nil)
	}
	return body
}

// Beginning is as much of a text as is kept.
func Beginning(text []byte, limit int) string {
	text = bytes.TrimSpace(text)
	if len(text) > limit {
		return strings.ToValidUTF8(string(text[:limit]), "") + " ..."
	}
	return strings.ToValidUTF8(string(text), "\ufffd")
}
