package simserver

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

func TestCompletionStream(t *testing.T) {
	t.Parallel()
	l := launch(t, fast())
	r := l.post(t, "/v1/completions",
		`{"model":"test/Llama-1B","prompt":"hello there world","max_tokens":12,"ignore_eos":true,
		"stream":true,"stream_options":{"include_usage":true},"temperature":0,"return_token_ids":true}`)
	list, done := chunks(t, r.body)
	if r.status != 200 || !done || !strings.HasPrefix(r.header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("status %d, done %v, type %q, want 200, true and an event stream", r.status, done,
			r.header.Get("Content-Type"))
	}
	if len(list) != 13 {
		t.Fatalf("stream has %d chunks, want 12 tokens and usage:\n%s", len(list), r.body)
	}
	for i, c := range list[:12] {
		reason := c.Choices[0].FinishReason
		if c.Object != "text_completion" || c.Choices[0].Text == "" || c.Usage != nil ||
			len(c.Choices[0].TokenIDs) != 1 || (reason != nil) != (i == 11) {
			t.Errorf("chunk %d = %+v, want one token, a finish reason only in the last", i, c)
		}
	}
	if f := list[11].Choices[0].FinishReason; f == nil || *f != "length" {
		t.Errorf("finish reason = %v, want length", f)
	}
	last := list[12]
	if len(last.Choices) != 0 || last.Usage == nil || last.Usage.CompletionTokens != 12 ||
		last.Usage.TotalTokens != last.Usage.PromptTokens+12 {
		t.Errorf("last chunk = %+v, want no choices and a usage of 12 tokens", last)
	}
	if !strings.Contains(r.body, `"choices":[]`) {
		t.Errorf("usage chunk lacks an empty choices list:\n%s", r.body)
	}
}

func TestChatStream(t *testing.T) {
	t.Parallel()
	l := launch(t, fast())
	body := `{"model":"test/Llama-1B","messages":[{"role":"system","content":"be brief"},{"role":"user","content":[{"type":"text","text":"hello"}]}],
		"max_completion_tokens":5,"ignore_eos":true,"stream":true%s}`
	r := l.post(t, "/v1/chat/completions", fmt.Sprintf(body,
		`,"stream_options":{"continuous_usage_stats":true,"include_usage":true}`))
	list, done := chunks(t, r.body)
	if !done || len(list) != 7 {
		t.Fatalf("stream has %d chunks, done %v, want role, 5 tokens, usage, done:\n%s", len(list), done, r.body)
	}
	if d := list[0].Choices[0].Delta; d.Role == nil || *d.Role != "assistant" || d.Content == nil || *d.Content != "" {
		t.Errorf("first delta = %+v, want the role and empty content", d)
	}
	for i, c := range list[1:6] {
		if c.Object != "chat.completion.chunk" || c.Usage == nil || c.Usage.CompletionTokens != i+1 ||
			c.Choices[0].Delta.Role != nil {
			t.Errorf("chunk %d = %+v, want running usage %d", i+1, c, i+1)
		}
	}
	r = l.post(t, "/v1/chat/completions", fmt.Sprintf(body, ""))
	if list, _ := chunks(t, r.body); len(list) != 6 || strings.Contains(r.body, `"usage"`) {
		t.Errorf("stream without options has %d chunks, want 6 without usage:\n%s", len(list), r.body)
	}
}

func TestWholeAnswers(t *testing.T) {
	t.Parallel()
	l := launch(t, fast())
	type whole struct {
		ID      string `json:"id"`
		Choices []struct {
			Text         string                   `json:"text"`
			Message      struct{ Content string } `json:"message"`
			FinishReason string                   `json:"finish_reason"`
		} `json:"choices"`
		Usage usage `json:"usage"`
	}
	for _, c := range []struct{ name, path, body string }{
		{"text", "/v1/completions", `{"prompt":"one two three","max_tokens":9,"ignore_eos":true}`},
		{"ids", "/v1/completions", `{"prompt":[300,128000,5],"max_tokens":9,"ignore_eos":true}`},
		{"list of one text", "/v1/completions", `{"prompt":["one two"],"max_tokens":9,"ignore_eos":true}`},
		{"list of one id list", "/v1/completions", `{"prompt":[[1,2,3]],"max_tokens":9,"ignore_eos":true}`},
		{
			"chat", "/v1/chat/completions",
			`{"messages":[{"role":"user","content":"hi"}],"max_tokens":9,"ignore_eos":true,"n":1}`,
		},
	} {
		r := l.do(t, "POST", c.path, c.body, "X-Request-Id", "r-"+c.name)
		w := decode[whole](t, r)
		if r.status != 200 || len(w.Choices) != 1 || w.Choices[0].FinishReason != "length" ||
			w.Usage.CompletionTokens != 9 || !strings.HasSuffix(w.ID, "cmpl-r-"+c.name) {
			t.Errorf("%s: answer = %d %s, want 200, 9 tokens, length, the request's id", c.name, r.status, r.body)
		}
		if (w.Choices[0].Text+w.Choices[0].Message.Content == "") || w.Usage.Details == nil {
			t.Errorf("%s: answer = %s, want text and cached tokens", c.name, r.body)
		}
	}
	short := decode[whole](t, l.post(t, "/v1/completions", `{"prompt":"no limit given","ignore_eos":true}`))
	if short.Usage.CompletionTokens != 16 {
		t.Errorf("tokens without max_tokens = %d, want 16", short.Usage.CompletionTokens)
	}
}

func TestNaturalLengths(t *testing.T) {
	t.Parallel()
	cfg := fast()
	cfg.Speed = 2000
	l := launch(t, cfg)
	reasons := map[string]int{}
	for i := range 30 {
		body := fmt.Sprintf(
			`{"messages":[{"role":"user","content":"question %d"}],"max_tokens":150,"min_tokens":10,"stream":true,"stream_options":{"include_usage":true}}`, i)
		list, _ := chunks(t, l.post(t, "/v1/chat/completions", body).body)
		again, _ := chunks(t, l.post(t, "/v1/chat/completions", body).body)
		if texts(list) != texts(again) || texts(list) == "" {
			t.Fatalf("answers to one prompt differ: %q and %q", texts(list), texts(again))
		}
		n := list[len(list)-1].Usage.CompletionTokens
		reasons[*list[len(list)-2].Choices[0].FinishReason]++
		if n <= 10 || n > 150 {
			t.Errorf("answer %d has %d tokens, want 11 to 150", i, n)
		}
	}
	if reasons["stop"] == 0 || reasons["length"] == 0 || len(reasons) != 2 {
		t.Errorf("finish reasons = %v, want stop and length", reasons)
	}
}

func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	l := launch(t, fast())
	for _, c := range []struct {
		name, path, body string
		status           int
		want             string
	}{
		{"bad json", "/v1/completions", `{"prompt":`, 400, "BadRequestError"},
		{"wrong type", "/v1/completions", `{"prompt":"x","max_tokens":"many"}`, 400, "max_tokens"},
		{"no prompt", "/v1/completions", `{}`, 400, "prompt must be"},
		{"two prompts", "/v1/completions", `{"prompt":["a","b"]}`, 400, "one prompt"},
		{
			"id out of vocabulary", "/v1/completions", `{"prompt":[1,200000]}`, 400,
			"Token id 200000 is out of vocabulary",
		},
		{"unknown model", "/v1/completions", `{"model":"m","prompt":"x"}`, 404, "The model `m` does not exist."},
		{"two answers", "/v1/completions", `{"prompt":"x","n":2}`, 400, "n and best_of must be 1"},
		{"no tokens", "/v1/completions", `{"prompt":"x","max_tokens":0}`, 400, "max_tokens must be at least 1, got 0."},
		{
			"too much output", "/v1/completions", `{"prompt":[1,2],"max_tokens":5000}`, 400,
			"This model's maximum context length is 4096 tokens. However, you requested 5002 tokens (2 in the " +
				"prompt, 5000 in the completion)",
		},
		{
			"too long a prompt", "/v1/completions", `{"prompt":[` + strings.Repeat("1,", 4999) + `1]}`, 400,
			"5000 input tokens",
		},
		{"cold", "/v1/completions", `{"prompt":"x","temperature":-1}`, 400, "temperature must be non-negative"},
		{"no messages", "/v1/chat/completions", `{"messages":[]}`, 400, "messages"},
		{
			"picture without a file", "/v1/chat/completions",
			`{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}`, 400,
			"image_url: want data:image/jpeg;base64,",
		},
		{
			"picture elsewhere", "/v1/chat/completions",
			`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"http://host/a.png"}}]}]}`,
			400, "image_url: want data:image/jpeg;base64,",
		},
		{
			"broken picture", "/v1/chat/completions",
			`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]}`, 400, "image_url: ",
		},
		{
			"sound", "/v1/chat/completions", `{"messages":[{"role":"user","content":[{"type":"input_audio"}]}]}`, 400,
			"text and image_url parts only",
		},
		{"tokenize nothing", "/tokenize", `{}`, 400, "one of prompt"},
		{"detokenize nonsense", "/detokenize", `{"tokens":[-1]}`, 400, "out of vocabulary"},
	} {
		r := l.post(t, c.path, c.body)
		if r.status != c.status || !strings.Contains(r.body, c.want) || !strings.Contains(r.body,
			fmt.Sprintf(`"code":%d`, c.status)) {
			t.Errorf("%s: POST %s = %d %s, want %d with %q", c.name, c.path, r.status, r.body, c.status, c.want)
		}
	}
}

func TestSmallEndpoints(t *testing.T) {
	t.Parallel()
	cfg := fast()
	cfg.ServedModelNames = []string{"short", "alias"}
	l := launch(t, cfg)
	for _, c := range []struct{ path, want string }{
		{"/health", ""},
		{"/ping", ""},
		{"/version", `{"version":"simulator-1"}`},
		{"/load", `{"server_load":0}`},
		{"/v1/models", `"owned_by":"bench-simulator"`},
		{"/v1/models", `"id":"alias"`},
		{"/v1/models", `"max_model_len":4096`},
		{"/v1/models", `"root":"test/Llama-1B"`},
		{"/sim/truth", `"simulated":true`},
	} {
		if r := l.get(t, c.path); r.status != 200 || !strings.Contains(r.body, c.want) ||
			(c.want == "" && r.body != "") {
			t.Errorf("GET %s = %d %q, want 200 with %q", c.path, r.status, r.body, c.want)
		}
	}
	tokens := decode[struct {
		Count  int
		Tokens []int32
	}](t, l.post(t, "/tokenize", `{"prompt":"the quick brown fox, 42 zebras","add_special_tokens":false}`))
	if tokens.Count != len(tokens.Tokens) || tokens.Count == 0 {
		t.Fatalf("tokenize = %+v, want a count of its tokens", tokens)
	}
	ids := strings.ReplaceAll(fmt.Sprint(tokens.Tokens), " ", ",")
	if r := l.post(t, "/detokenize", `{"tokens":`+ids+`}`); !strings.Contains(r.body,
		`"the quick brown fox, 42 zebras"`) {
		t.Errorf("detokenize(%s) = %s, want the text back", ids, r.body)
	}
}

func TestAPIKey(t *testing.T) {
	t.Parallel()
	cfg := fast()
	cfg.APIKey = "s3cret"
	l := launch(t, cfg)
	for _, c := range []struct {
		path, key string
		want      int
	}{
		{"/v1/models", "", 401},
		{"/v1/models", "Bearer wrong", 401},
		{"/v1/models", "Bearer s3cret", 200},
		{"/health", "", 200},
		{"/metrics", "", 200},
	} {
		if r := l.do(t, "GET", c.path, "", "Authorization", c.key); r.status != c.want {
			t.Errorf("GET %s with key %q = %d %s, want %d", c.path, c.key, r.status, r.body, c.want)
		}
	}
}

// metric reads one sample whose line begins with name.
func metric(t *testing.T, text, name string) float64 {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `(?:\{[^}]*\})? (\S+)$`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("metrics lack %s:\n%s", name, text)
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestMetricsAgreeWithUsage(t *testing.T) {
	t.Parallel()
	cfg := fast()
	cfg.Speculation = simengine.Speculation{Model: "Llama-1B", Tokens: 3, Acceptance: []float64{0.8}}
	l := launch(t, cfg)
	var in, out, cached int
	prompt := `"` + strings.Repeat("hello world ", 40) + `"`
	for i := range 6 {
		list, _ := chunks(t, l.post(t, "/v1/completions", fmt.Sprintf(
			`{"prompt":%s,"max_tokens":%d,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}}`,
			prompt, 20+i)).body)
		u := list[len(list)-1].Usage
		in, out, cached = in+u.PromptTokens, out+u.CompletionTokens, cached+u.Details.CachedTokens
		if len(list)-1 >= u.CompletionTokens {
			t.Errorf("%d chunks for %d tokens, want fewer with speculation", len(list)-1, u.CompletionTokens)
		}
	}
	text := l.get(t, "/metrics").body
	for _, c := range []struct {
		name string
		want int
	}{
		{"vllm:prompt_tokens_total", in},
		{"vllm:generation_tokens_total", out},
		{"vllm:prefix_cache_queries_total", in},
		{"vllm:prefix_cache_hits_total", cached},
		{"vllm:num_requests_running", 0},
		{"vllm:num_requests_waiting", 0},
		{"vllm:kv_cache_usage_perc", 0},
		{"vllm:time_to_first_token_seconds_count", 6},
		{"vllm:e2e_request_latency_seconds_count", 6},
	} {
		if got := metric(t, text, c.name); got != float64(c.want) {
			t.Errorf("%s = %v, want %d", c.name, got, c.want)
		}
	}
	if cached == 0 || out != 6*20+15 {
		t.Errorf("cached %d, output %d, want some and 135", cached, out)
	}
	if d, a := metric(t, text, "vllm:spec_decode_num_draft_tokens_total"),
		metric(t, text, "vllm:spec_decode_num_accepted_tokens_total"); a == 0 || a > d {
		t.Errorf("accepted %v of %v drafted tokens, want some", a, d)
	}
	if !strings.Contains(text,
		`vllm:request_success_total{engine="0",model_name="test/Llama-1B",finished_reason="length"} 6`) {
		t.Errorf("metrics lack the finished requests:\n%s", text)
	}
}

func TestResetPrefixCache(t *testing.T) {
	t.Parallel()
	l := launch(t, fast())
	cached := func() int {
		r := l.post(t, "/v1/completions", `{"prompt":"`+strings.Repeat("again ", 100)+`","max_tokens":1}`)
		return decode[struct{ Usage usage }](t, r).Usage.Details.CachedTokens
	}
	cold, warm := cached(), cached()
	l.post(t, "/reset_prefix_cache", "")
	if reset := cached(); cold != 0 || warm != 96 || reset != 0 {
		t.Errorf("cached tokens cold %d, warm %d, reset %d, want 0, 96, 0", cold, warm, reset)
	}
	if salted := decode[struct{ Usage usage }](t, l.post(t, "/v1/completions",
		`{"prompt":"`+strings.Repeat("again ", 100)+
			`","max_tokens":1,"cache_salt":"x"}`)).Usage.Details.CachedTokens; salted != 0 {
		t.Errorf("cached tokens with a new salt = %d, want 0", salted)
	}
	if !strings.Contains(l.log.String(), "Successfully reset prefix cache") {
		t.Errorf("log lacks the reset:\n%s", l.log)
	}
}

func TestClientLeaves(t *testing.T) {
	t.Parallel()
	cfg := fast()
	cfg.Speed = 1
	l := launch(t, cfg)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, l.url+"/v1/completions",
		strings.NewReader(`{"prompt":"x","max_tokens":4000,"ignore_eos":true,"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := l.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := resp.Body.Read(make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	eventually(t, "the request is aborted and its blocks are free", func() bool {
		text := l.get(t, "/metrics").body
		return metric(t, text, "vllm:num_requests_running") == 0 && metric(t, text, "vllm:kv_cache_usage_perc") == 0 &&
			strings.Contains(text, `finished_reason="abort"} 1`)
	})
}

// eventually polls until ok, for at most 10 s.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range 2000 {
		if ok() {
			return
		}
		<-tick.C
	}
	t.Fatalf("not so after 10 s: %s", what)
}

func TestTruth(t *testing.T) {
	t.Parallel()
	l := launch(t, fast())
	for i := range 3 {
		l.do(t, "POST", "/v1/completions", `{"prompt":"x","max_tokens":7,"ignore_eos":true,"stream":true}`,
			"X-Request-Id", fmt.Sprint("q", i))
	}
	var got struct{ Requests []truthRecord }
	eventually(t, "three records are kept", func() bool {
		got = decode[struct{ Requests []truthRecord }](t, l.get(t, "/sim/truth"))
		return len(got.Requests) == 3
	})
	for i, r := range got.Requests {
		if r.RequestID != fmt.Sprint("q", i) || len(r.StepS) != 7 || len(r.WriteS) != 7 || r.FinishReason != "length" {
			t.Errorf("record %d = %+v, want q%d with 7 times", i, r, i)
		}
		for j := range r.StepS {
			if r.WriteS[j] < r.StepS[j] || (j > 0 && r.StepS[j] <= r.StepS[j-1]) {
				t.Errorf("record %d times = %v and %v, want steps that ascend, writes behind them", i,
					r.StepS, r.WriteS)
			}
		}
	}
}
