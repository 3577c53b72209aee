package simserver

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/benchrig/bench/dataset/audio"
	"github.com/benchrig/bench/dataset/prng"
)

func TestTranscriptions(t *testing.T) {
	t.Parallel()
	l := launch(t, fast())
	eventually(t, "ready", func() bool { return l.get(t, "/health").status == 200 })
	post := func(file []byte, fields ...string) reply {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		if file != nil {
			part, err := form.CreateFormFile("file", "a.wav")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := part.Write(file); err != nil {
				t.Fatal(err)
			}
		}
		for i := 0; i+1 < len(fields); i += 2 {
			if err := form.WriteField(fields[i], fields[i+1]); err != nil {
				t.Fatal(err)
			}
		}
		if err := form.Close(); err != nil {
			t.Fatal(err)
		}
		return l.do(t, "POST", "/v1/audio/transcriptions", body.String(), "Content-Type", form.FormDataContentType())
	}
	words := func(text string) int { return len(strings.Fields(text)) }

	two := audio.Make(prng.NewPCG64(1), 2*audio.Rate)
	whole := post(two)
	if whole.status != 200 || !strings.Contains(whole.body, `"usage":{"seconds":2,"type":"duration"}`) ||
		words(whole.body) < 2 {
		t.Errorf("two seconds: %d %s", whole.status, whole.body)
	}
	if again := post(two); again.body != whole.body {
		t.Errorf("the same file is answered by %s, before by %s", again.body, whole.body)
	}
	if other := post(audio.Make(prng.NewPCG64(2), 2*audio.Rate)); other.body == whole.body {
		t.Errorf("another file has the same text: %s", other.body)
	}

	streamed := post(two, "stream", "True", "stream_include_usage", "true", "response_format", "json")
	for _, want := range []string{
		`"object":"transcription.chunk"`, `"finish_reason":"stop"`, "data: [DONE]",
		`"usage":{"prompt_tokens":100,"total_tokens":106,"completion_tokens":6}`,
	} {
		if !strings.Contains(streamed.body, want) {
			t.Errorf("streamed: no %s in %s", want, streamed.body)
		}
	}
	cut := post(two, "stream", "true", "stream_include_usage", "true", "max_completion_tokens", "2")
	if !strings.Contains(cut.body, `"completion_tokens":2}`) {
		t.Errorf("cut at 2 tokens: %s", cut.body)
	}

	long := audio.Make(prng.NewPCG64(1), 100*audio.Rate)
	for want, r := range map[string]reply{
		"want a body of multipart/form-data":     l.post(t, "/v1/audio/transcriptions", `{"model":"m"}`),
		"want a field \\\"file\\\"":              post(nil, "stream", "true"),
		"audio file: it is not a WAV file":       post([]byte("ID3 music")),
		"max_completion_tokens must be at least": post(two, "max_completion_tokens", "0"),
		"answers with response_format json":      post(two, "response_format", "srt"),
		"maximum context length is 4096 tokens":  post(long),
		"does not exist":                         post(two, "model", "another"),
	} {
		if r.status/100 != 4 || !strings.Contains(r.body, want) {
			t.Errorf("%s, want %q", fmt.Sprint(r.status, " ", r.body), want)
		}
	}
}
