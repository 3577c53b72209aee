package dataset

import (
	"fmt"
	"strings"
	"testing"
)

func TestJSONLAsVLLM(t *testing.T) {
	var sent map[string]vllmRequests
	loadJSONGz(t, "requests-newest.json.gz", &sent)
	set := build(t, Spec{Kind: "jsonl", Path: "testdata/custom.jsonl", N: 12, Shuffle: true}, &words{})
	for i, want := range sent["custom"].Requests {
		p := set.Prompts[i]
		if p.Text != want.Prompt || p.InputTokens != want.PromptLen || p.OutputTokens != want.OutputLen {
			t.Errorf("prompt %d = %+v, want %+v", i, p, want)
		}
	}
	if want := "the file has 9 usable prompts, 12 were asked: 3 are repeats"; !noteWith(set, want) {
		t.Errorf("notes = %q, want %q", set.Notes, want)
	}
}

func TestJSONLForms(t *testing.T) {
	long := strings.Repeat("long line ", 50_000)
	content := "\uFEFF" + `{"prompt": "one \u00e9", "output_tokens": 7, "id": {"deep": [1]}}` + "\r\n" +
		"\n   \t\n" +
		`{"prompt_token_ids": [1, 2, 300]}` + "\n" +
		`{"messages": [{"role": "user", "content": "hi"}], "output_tokens": 2}` + "\n" +
		`{"prompt": "` + long + `"}`
	for _, c := range []struct {
		outputLen int
		want      []string
	}{
		{0, []string{`one é [] 0 7`, ` [1 2 300] 3 0`, `hi [] 0 2`, long + ` [] 0 0`}},
		{9, []string{`one é [] 0 9`, ` [1 2 300] 3 9`, `hi [] 0 9`, long + ` [] 0 9`}},
	} {
		set := build(t, Spec{Kind: "jsonl", Path: writeFile(t, content), N: 4, OutputLen: c.outputLen}, nil)
		for i, p := range set.Prompts {
			if got := fmt.Sprint(p.Text, " ", p.TokenIDs, " ", p.InputTokens, " ", p.OutputTokens); got != c.want[i] {
				t.Errorf("output length %d: prompt %d = %.60q, want %.60q", c.outputLen, i, got, c.want[i])
			}
		}
		if len(set.Notes) != 0 {
			t.Errorf("notes = %q, want none", set.Notes)
		}
	}
}

// Only the prompts that are sent are counted.
func TestJSONLCountsWhatIsSent(t *testing.T) {
	counter := &words{}
	build(t, Spec{Kind: "jsonl", Path: "testdata/custom.jsonl", N: 2}, counter)
	if counter.calls != 2 {
		t.Errorf("%d counts for 2 of 9 prompts, want 2", counter.calls)
	}
}

func TestJSONLErrors(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"not JSON", `hello`, "invalid character 'h'"},
		{"cut off", `{"prompt": "a`, "unexpected end"},
		{"array", `["a"]`, "a JSON array, expected an object"},
		{"text", `"a"`, "a JSON string, expected an object"},
		{"nothing", `{"text": "a"}`, `no "prompt", "prompt_token_ids" or "messages"`},
		{"null", `null`, `no "prompt"`},
		{"two forms", `{"prompt": "a", "prompt_token_ids": [1]}`, "more than one"},
		{"empty prompt", `{"prompt": ""}`, `"prompt" is empty`},
		{"prompt a number", `{"prompt": 5}`, `"prompt" is a JSON number, want text`},
		{"prompt a list", `{"prompt": ["a", "b"]}`, `"prompt" is a JSON array, want text`},
		{"no ids", `{"prompt_token_ids": []}`, `"prompt_token_ids" is empty`},
		{"ids as text", `{"prompt_token_ids": "1 2"}`, `"prompt_token_ids" is a JSON string, want an array`},
		{"fractions", `{"prompt_token_ids": [1.5]}`, `want a whole number`},
		{"negative id", `{"prompt_token_ids": [1, -2]}`, `"prompt_token_ids"[1] is -2`},
		{"output 0", `{"prompt": "a", "output_tokens": 0}`, `"output_tokens" is 0, want 1`},
		{
			"output as text", `{"prompt": "a", "output_tokens": "9"}`,
			`"output_tokens" is a JSON string, want a whole number`,
		},
		{
			"conversation", `{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}`,
			"has 2 messages",
		},
		{"no messages", `{"messages": []}`, "has 0 messages"},
		{"system message", `{"messages": [{"role": "system", "content": "a"}]}`, `role "system"`},
		{"empty message", `{"messages": [{"role": "user", "content": ""}]}`, "empty message"},
		{
			"content parts", `{"messages": [{"role": "user", "content": [{"type": "text"}]}]}`,
			`"messages.content" is a JSON array, want text`,
		},
	} {
		path := writeFile(t, "{\"prompt\": \"good\"}\n\n"+c.line+"\n")
		_, err := Build(t.Context(), Spec{Kind: "jsonl", Path: path, N: 1}, nil)
		if err == nil || !strings.Contains(err.Error(), path+":3: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Build = %v, want %s:3: and %q", c.name, err, path, c.want)
		}
	}
	for _, content := range []string{"", "\n \n\n"} {
		path := writeFile(t, content)
		if _, err := Build(t.Context(), Spec{Kind: "jsonl", Path: path, N: 1}, nil); err == nil ||
			!strings.Contains(err.Error(), path+": the file has no prompts") {
			t.Errorf("Build of %q = %v, want: no prompts", content, err)
		}
	}
}

func FuzzJSONL(f *testing.F) {
	f.Add([]byte("{\"prompt\": \"a\"}\n\n{\"prompt_token_ids\": [1, 2], \"output_tokens\": 4}\n"))
	f.Add([]byte(`{"messages": [{"role": "user", "content": "\ud800"}]}`))
	f.Add([]byte("\uFEFF{\"prompt\": \"a\", \"Prompt\": \"b\"}\r\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		places, err := indexJSONL(t.Context(), strings.NewReader(string(content)), "f.jsonl")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.jsonl:") {
				t.Fatalf("error without a place: %v", err)
			}
			return
		}
		prompts, err := readJSONL(t.Context(), strings.NewReader(string(content)), places)
		if err != nil {
			t.Fatalf("lines that were good are not: %v", err)
		}
		lines := strings.Count(string(content), "\n") + 1
		if len(prompts) == 0 || len(prompts) > lines {
			t.Fatalf("%d prompts of %d lines", len(prompts), lines)
		}
		for _, p := range prompts {
			if (p.Text == "") == (p.TokenIDs == nil) || p.OutputTokens < 0 || p.InputTokens != len(p.TokenIDs) {
				t.Fatalf("accepted %+v, which is not a prompt", p)
			}
		}
	})
}
