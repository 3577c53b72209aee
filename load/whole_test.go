package load

import (
	"fmt"
	"testing"
)

// Without stream there is nothing that vLLM's clients, which stream, could be
// compared by.
func TestWholeAnswersAreNotReadAsAStream(t *testing.T) {
	body := `{"choices":[{"index":0,"text":"hello","finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":8}}`
	head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(body))
	s := newRawServer(t, say(head+body))
	o := options(s.url, "completions")
	o.NoStream = true
	if r := one(t, o); r.Failure != nil || r.VLLMReading != nil {
		t.Errorf("failure %v, readings of vLLM's clients %v, want neither", r.Failure, r.VLLMReading)
	}
}
