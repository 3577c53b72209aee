package load

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/dialect/event"
)

// endless repeats one event for ever, so many bytes a read.
type endless struct {
	event []byte
	size  int
	at    int
}

func (e *endless) ReadStamped(p []byte) (int, time.Duration, error) {
	n := min(len(p), e.size)
	for i := range n {
		p[i] = e.event[e.at]
		if e.at++; e.at == len(e.event) {
			e.at = 0
		}
	}
	return n, 0, nil
}

// vllmEvent is one token as vLLM streams it.
const vllmEvent = `{"id":"cmpl-7e8a9d6b4c3f4b0f9d1c2a3b4c5d6e7f","object":"text_completion","created":1795815459,"model":"meta-llama/Llama-3.1-70B-Instruct",` +
	`"choices":[{"index":0,"text":" tok\u00e9n","logprobs":null,"finish_reason":null,"stop_reason":null}],"usage":null}`

const chatEvent = `{"id":"chatcmpl-7e8a9d6b4c3f4b0f9d1c2a3b4c5d6e7f","object":"chat.completion.chunk","created":1795815459,"model":"m",` +
	`"choices":[{"index":0,"delta":{"content":" token","tool_calls":[]},"logprobs":null,"finish_reason":null}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":0}}}`

// TestNoAllocationPerEvent: reading, cutting, parsing and storing an event
// allocates nothing.
func TestNoAllocationPerEvent(t *testing.T) {
	for name, data := range map[string]string{"completions": vllmEvent, "chat": chatEvent} {
		for _, size := range []int{37, 300, 4096} {
			const events = 2000
			a := new(answerPool).get(events * 2)
			a.events.Reset(&endless{event: []byte("data: " + data + "\r\n\r\n"), size: size})
			a.text = make([]byte, 0, 1<<20)
			a.kinds = make([]byte, 0, 1<<16)
			var count atomic.Int64
			next := func() {
				data, at, err := a.events.Next()
				if err != nil {
					t.Fatal(err)
				}
				a.take(data, at, event.ParseOpenAI)
				count.Add(1)
			}
			for range 10 {
				next()
			}
			if got := testing.AllocsPerRun(events, next); got != 0 {
				t.Errorf("%s, %d bytes a read: %v allocations an event, want 0", name, size, got)
			}
			if a.tokens() < events || !strings.HasPrefix(string(a.text), " tok") {
				t.Errorf("%s: %d tokens, text %.20q", name, a.tokens(), a.text)
			}
		}
	}
}

// TestNoAllocationPerNativeEvent: the same for the native APIs.
func TestNoAllocationPerNativeEvent(t *testing.T) {
	for name, data := range map[string]string{
		"llamacpp":  `{"index":0,"content":" tok\u00e9n","tokens":[11228],"stop":false,"id_slot":-1,"tokens_predicted":1,"tokens_evaluated":5}`,
		"tgi":       `{"index":1,"token":{"id":5,"text":" tok","logprob":-0.25,"special":false},"top_tokens":[],"generated_text":null,"details":null}`,
		"sglang":    `{"text":" token","meta_info":{"id":"2f1c","finish_reason":null,"prompt_tokens":6,"completion_tokens":1,"cached_tokens":0}}`,
		"responses": `{"content_index":0,"delta":" tok\u00e9n","item_id":"8ca737d0621b2535","logprobs":[],"output_index":0,"sequence_number":4,"type":"response.output_text.delta"}`,
		"messages":  `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" tok"}}`,
		"ollama":    `{"model":"tiny","created_at":"2026-11-27T21:41:02.848055225Z","response":" tok","done":false}`,
	} {
		api, err := dialect.APINamed(name)
		if err != nil {
			t.Fatal(err)
		}
		c, raw := new(event.Chunk), []byte(data)
		parse := func() {
			if err := api.Parser()(raw, c); err != nil {
				t.Fatal(err)
			}
		}
		parse()
		if got := testing.AllocsPerRun(1000, parse); got != 0 || !strings.HasPrefix(string(c.Content), " tok") ||
			len(c.Finish) > 0 {
			t.Errorf("%s: %v allocations an event, want 0; content %q", name, got, c.Content)
		}
	}
}
