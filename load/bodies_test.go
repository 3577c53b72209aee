package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
)

// everything sets all sampling parameters.
func everything() spec.Sampling {
	return spec.Sampling{
		Temperature: new(0.5), TopP: new(0.9), TopK: new(4), MinP: new(0.1), FrequencyPenalty: new(0.2),
		PresencePenalty: new(0.3), RepetitionPenalty: new(1.0), Seed: new(7),
	}
}

func TestNativeBodies(t *testing.T) {
	short := dialect.Prompt{Text: "a é", OutputTokens: 7}
	some := spec.Sampling{Temperature: new(0.5), TopK: new(4), RepetitionPenalty: new(1.5), Seed: new(7)}
	picture := dialect.Prompt{
		Text: "a", Images: []string{"data:image/png;base64,QUJD", "https://host/b.jpg"},
		OutputTokens: 7,
	}
	tests := []struct {
		name  string
		o     Options
		p     dialect.Prompt
		want  string
		asked int
	}{
		{
			"completions, all parameters",
			Options{Target: Target{API: "completions", Model: "m"}, Settings: spec.Settings{
				Sampling:  everything(),
				IgnoreEOS: true,
			}},
			short,
			`{"model":"m","prompt":"a é","max_tokens":7,"stream":true,"stream_options":{"include_usage":true},"top_p":0.9,"top_k":4,"min_p":0.1,"temperature":0.5,"frequency_penalty":0.2,"presence_penalty":0.3,"repetition_penalty":1,"seed":7,"ignore_eos":true}`, 7,
		},
		{
			"not streamed",
			Options{Target: Target{API: "completions", Model: "m"}, Settings: spec.Settings{NoStream: true}},
			short,
			`{"model":"m","prompt":"a é","max_tokens":7,"stream":false}`, 7,
		},
		{
			"chat with images",
			Options{Target: Target{API: "chat", Model: "m"}},
			picture,
			`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}},{"type":"image_url","image_url":{"url":"https://host/b.jpg"}}]}],"max_completion_tokens":7,"max_tokens":7,"stream":true,"stream_options":{"include_usage":true}}`, 7,
		},
		{
			"objects in the body are merged",
			Options{
				Target: Target{API: "completions", Model: "m"},
				Settings: spec.Settings{Body: map[string]any{
					"stream_options": map[string]any{"continuous_usage_stats": true},
				}},
			},
			short,
			`{"model":"m","prompt":"a é","max_tokens":7,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`, 7,
		},
		{
			"llamacpp",
			Options{
				Target:   Target{API: "llamacpp"},
				Settings: spec.Settings{Body: map[string]any{"cache_prompt": false}, Sampling: some, IgnoreEOS: true},
			},
			short,
			`{"prompt":"a é","n_predict":7,"stream":true,"top_k":4,"temperature":0.5,"repeat_penalty":1.5,"seed":7,"ignore_eos":true,"cache_prompt":false}`, 7,
		},
		{
			"llamacpp ids",
			Options{Target: Target{API: "llamacpp"}},
			dialect.Prompt{TokenIDs: []int{1, 2}},
			`{"prompt":[1,2],"stream":true}`, 0,
		},
		{
			"tgi",
			Options{
				Target: Target{API: "tgi"},
				Settings: spec.Settings{
					Body:     map[string]any{"parameters": map[string]any{"truncate": 5}},
					Sampling: some, IgnoreEOS: true,
				},
			},
			short,
			`{"inputs":"a é","parameters":{"max_new_tokens":7,"do_sample":true,"top_k":4,"temperature":0.5,"repetition_penalty":1.5,"seed":7,"truncate":5}}`, 7,
		},
		{
			"tgi greedy",
			Options{
				Target:   Target{API: "tgi"},
				Settings: spec.Settings{Sampling: spec.Sampling{Temperature: new(0.0)}},
			},
			short,
			`{"inputs":"a é","parameters":{"max_new_tokens":7,"do_sample":false}}`, 7,
		},
		{
			"tgi not streamed",
			Options{Target: Target{API: "tgi"}, Settings: spec.Settings{NoStream: true}},
			short,
			`{"inputs":"a é","parameters":{"max_new_tokens":7,"details":true}}`, 7,
		},
		{
			"sglang",
			Options{Target: Target{API: "sglang"}, Settings: spec.Settings{Sampling: some, IgnoreEOS: true}},
			short,
			`{"text":"a é","sampling_params":{"max_new_tokens":7,"top_k":4,"temperature":0.5,"repetition_penalty":1.5,"sampling_seed":7,"ignore_eos":true},"stream":true}`, 7,
		},
		{
			"sglang ids",
			Options{Target: Target{API: "sglang"}},
			dialect.Prompt{TokenIDs: []int{1, 2}},
			`{"input_ids":[1,2],"sampling_params":{},"stream":true}`, 0,
		},
		{
			"ollama",
			Options{
				Target: Target{API: "ollama", Model: "m"},
				Settings: spec.Settings{Body: map[string]any{"options": map[string]any{
					"num_ctx":     4096,
					"num_predict": 9,
				}}, Sampling: some},
			},
			short,
			`{"model":"m","prompt":"a é","raw":true,"stream":true,"options":{"num_predict":9,"top_k":4,"temperature":0.5,"repeat_penalty":1.5,"seed":7,"num_ctx":4096}}`, 9,
		},
		{
			"ollama with images",
			Options{Target: Target{API: "ollama", Model: "m"}},
			picture,
			`{"model":"m","prompt":"a","images":["QUJD","https://host/b.jpg"],"stream":true,"options":{"num_predict":7}}`, 7,
		},
		{
			"responses",
			Options{
				Target:   Target{API: "responses", Model: "m"},
				Settings: spec.Settings{Sampling: some, IgnoreEOS: true},
			},
			short,
			`{"model":"m","input":"a é","max_output_tokens":7,"stream":true,"store":false,"top_k":4,"temperature":0.5,"repetition_penalty":1.5,"seed":7,"ignore_eos":true}`, 7,
		},
		{
			"responses with images",
			Options{Target: Target{API: "responses", Model: "m"}, Settings: spec.Settings{NoStream: true}},
			picture,
			`{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:image/png;base64,QUJD"},{"type":"input_image","image_url":"https://host/b.jpg"}]}],"max_output_tokens":7,"stream":false,"store":false}`, 7,
		},
		{
			"messages",
			Options{Target: Target{API: "messages", Model: "m"}, Settings: spec.Settings{
				Sampling: spec.Sampling{Temperature: new(0.5), TopK: new(4), Stop: []string{"x"}}, IgnoreEOS: true,
			}},
			short,
			`{"model":"m","messages":[{"role":"user","content":"a é"}],"max_tokens":7,"stream":true,"top_k":4,"temperature":0.5,"stop_sequences":["x"]}`, 7,
		},
		{
			"embeddings",
			Options{
				Target:   Target{API: "embeddings", Model: "m"},
				Settings: spec.Settings{Body: map[string]any{"dimensions": 8}},
			},
			short, `{"model":"m","input":"a é","dimensions":8}`, 0,
		},
		{
			"embeddings of several texts",
			Options{Target: Target{API: "embeddings", Model: "m"}},
			dialect.Prompt{Text: "a", Texts: []string{"b", "c"}},
			`{"model":"m","input":["a","b","c"]}`, 0,
		},
		{
			"embeddings of ids",
			Options{Target: Target{API: "pooling", Model: "m"}},
			dialect.Prompt{TokenIDs: []int{1, 2}},
			`{"model":"m","input":[1,2]}`, 0,
		},
		{
			"rerank",
			Options{Target: Target{API: "rerank", Model: "m"}},
			dialect.Prompt{Text: "a", Texts: []string{"b", "c"}},
			`{"model":"m","query":"a","documents":["b","c"]}`, 0,
		},
		{
			"score",
			Options{Target: Target{API: "score", Model: "m"}},
			dialect.Prompt{Text: "a", Texts: []string{"b"}},
			`{"model":"m","text_1":"a","text_2":["b"]}`, 0,
		},
		{
			"messages without a length",
			Options{Target: Target{API: "messages", Model: "m"}},
			dialect.Prompt{Text: "a"},
			`{"model":"m","messages":[{"role":"user","content":"a"}],"max_tokens":4096,"stream":true}`, 4096,
		},
		{
			"messages with images",
			Options{Target: Target{API: "messages", Model: "m"}},
			picture,
			`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}},{"type":"image","source":{"type":"url","url":"https://host/b.jpg"}}]}],"max_tokens":7,"stream":true}`, 7,
		},
		{
			"ollama-chat",
			Options{Target: Target{API: "ollama-chat", Model: "m"}, Settings: spec.Settings{NoStream: true}},
			picture,
			`{"model":"m","messages":[{"role":"user","content":"a","images":["QUJD","https://host/b.jpg"]}],"stream":false,"options":{"num_predict":7}}`, 7,
		},
	}
	for _, tt := range tests {
		api, err := dialect.APINamed(tt.o.Target.API)
		if err != nil {
			t.Fatal(err)
		}
		got, err := api.Encode(tt.o.common(), dialect.Ask{Prompt: tt.p})
		if err != nil || string(got.Body) != tt.want || got.Asked != tt.asked {
			t.Errorf("%s: encode = %s, asked %d, %v\nwant %s, asked %d", tt.name, got.Body, got.Asked, err,
				tt.want, tt.asked)
		}
	}
}

// TestTurnBodies: what was said before goes along with a later turn.
func TestTurnBodies(t *testing.T) {
	p := dialect.Prompt{
		Text: "one", OutputTokens: 5, Images: []string{"data:image/png;base64,QUJD"},
		Turns: []dialect.Turn{{Text: "two", OutputTokens: 6}, {Text: "three", OutputTokens: 0}},
	}
	plain := p
	plain.Images = nil
	second, third := []string{" uno"}, []string{" uno", " dos"}
	tests := []struct {
		name, api, bodies string
		p                 dialect.Prompt
		answers           []string
		want              string
	}{
		{
			"completions", "completions", "", plain, second,
			`{"model":"m","prompt":"one uno\ntwo","max_tokens":6,"stream":true,"stream_options":{"include_usage":true}}`,
		},
		{
			"no limit", "completions", "", plain, third,
			`{"model":"m","prompt":"one uno\ntwo dos\nthree","stream":true,"stream_options":{"include_usage":true}}`,
		},
		{
			"chat", "chat", "", plain, second,
			`{"model":"m","messages":[{"role":"user","content":"one"},{"role":"assistant","content":" uno"},{"role":"user","content":"two"}],"max_completion_tokens":6,"max_tokens":6,"stream":true,"stream_options":{"include_usage":true}}`,
		},
		{
			"chat with images", "chat", "", p, second,
			`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"one"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]},{"role":"assistant","content":" uno"},{"role":"user","content":[{"type":"text","text":"two"}]}],"max_completion_tokens":6,"max_tokens":6,"stream":true,"stream_options":{"include_usage":true}}`,
		},
		{
			"vLLM's chat", "chat", spec.CompatVLLM, plain, second,
			`{"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "one"}]}, {"role": "assistant", "content": " uno"}, {"role": "user", "content": [{"type": "text", "text": "two"}]}], "max_completion_tokens": 6, "stream": true, "stream_options": {"include_usage": true}}`,
		},
		{"llamacpp", "llamacpp", "", plain, second, `{"prompt":"one uno\ntwo","n_predict":6,"stream":true}`},
		{"tgi", "tgi", "", plain, second, `{"inputs":"one uno\ntwo","parameters":{"max_new_tokens":6}}`},
		{
			"sglang", "sglang", "", plain, second,
			`{"text":"one uno\ntwo","sampling_params":{"max_new_tokens":6},"stream":true}`,
		},
		{
			"ollama", "ollama", "", plain, second,
			`{"model":"m","prompt":"one uno\ntwo","raw":true,"stream":true,"options":{"num_predict":6}}`,
		},
		{
			"responses", "responses", "", plain, second,
			`{"model":"m","input":[{"role":"user","content":"one"},{"type":"message","id":"msg_0","role":"assistant","status":"completed","content":[{"type":"output_text","text":" uno","annotations":[]}]},{"role":"user","content":"two"}],"max_output_tokens":6,"stream":true,"store":false}`,
		},
		{
			"messages", "messages", "", plain, second,
			`{"model":"m","messages":[{"role":"user","content":"one"},{"role":"assistant","content":" uno"},{"role":"user","content":"two"}],"max_tokens":6,"stream":true}`,
		},
		{
			"ollama-chat", "ollama-chat", "", p, second,
			`{"model":"m","messages":[{"role":"user","content":"one","images":["QUJD"]},{"role":"assistant","content":" uno"},{"role":"user","content":"two"}],"stream":true,"options":{"num_predict":6}}`,
		},
	}
	for _, tt := range tests {
		api, err := dialect.APINamed(tt.api)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Target: Target{API: tt.api, Model: "m"}, Settings: spec.Settings{Compat: tt.bodies}}
		got, err := api.Encode(o.common(), dialect.Ask{Prompt: tt.p, Answers: tt.answers})
		if err != nil || string(got.Body) != tt.want {
			t.Errorf("%s: encode = %s, %v\nwant %s", tt.name, got.Body, err, tt.want)
		}
	}
}

// TestVLLMBodies: equal to the byte with what the versions of vLLM's client
// send.
func TestVLLMBodies(t *testing.T) {
	p := dialect.Prompt{Text: "Hé \"x\"\n\u2028<b> 😀\x7f\x01", InputTokens: 12, OutputTokens: 16}
	const text = `"H\u00e9 \"x\"\n\u2028<b> \ud83d\ude00\u007f\u0001"`
	const said = `[{"role": "user", "content": [{"type": "text", "text": ` + text + `}]}]`
	const usage = `"stream_options": {"include_usage": true}`
	tests := []struct {
		name, api, bodies string
		edit              func(o *Options)
		p                 dialect.Prompt
		want              string
	}{
		{"newest", "completions", spec.CompatVLLM, nil, p, `{"model": "m", "prompt": ` + text +
			`, "repetition_penalty": 1.0, "max_tokens": 16, "logprobs": null, "stream": true, ` + usage + `}`},
		{
			"newest, ids", "completions", spec.CompatVLLM, func(o *Options) { o.IgnoreEOS = true },
			dialect.Prompt{TokenIDs: []int{3, 14}, OutputTokens: 16},
			`{"model": "m", "prompt": [3, 14], "repetition_penalty": 1.0, "max_tokens": 16, "logprobs": null, "stream": true, ` + usage + `, "ignore_eos": true}`,
		},
		{"newest, parameters", "completions", spec.CompatVLLM, func(o *Options) {
			o.IgnoreEOS, o.Sampling = true, everything()
			o.Sampling.Seed, o.Sampling.RepetitionPenalty = nil, new(1.1)
			o.Body = map[string]any{"a": 1e-5, "b": map[string]any{"c": []any{
				1.0, json.Number("2"),
				json.Number("2.50"), "é",
			}}, "logprobs": 3, "stream_options": map[string]any{}}
		}, p, `{"model": "m", "prompt": ` + text +
			`, "repetition_penalty": 1.1, "max_tokens": 16, "logprobs": 3, "stream": true, "stream_options": {}, "ignore_eos": true, ` +
			`"top_p": 0.9, "top_k": 4, "min_p": 0.1, "temperature": 0.5, "frequency_penalty": 0.2, "presence_penalty": 0.3, "a": 1e-05, "b": {"c": [1.0, 2, 2.5, "\u00e9"]}}`},
		{
			"newest, chat", "chat", spec.CompatVLLM, func(o *Options) { o.IgnoreEOS = true }, p,
			`{"model": "m", "messages": ` + said + `, "max_completion_tokens": 16, "stream": true, ` + usage +
				`, "ignore_eos": true}`,
		},
		{
			"newest, images", "chat", spec.CompatVLLM, func(o *Options) { o.Sampling.Temperature = new(0.0) },
			dialect.Prompt{Text: "a", OutputTokens: 1, Images: []string{"data:image/jpeg;base64,QQ=="}},
			`{"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,QQ=="}}]}], "max_completion_tokens": 1, "stream": true, ` + usage + `, "temperature": 0.0}`,
		},
		{
			"newest, embeddings", "embeddings", spec.CompatVLLM, nil,
			dialect.Prompt{Text: "a", Texts: []string{"b"}},
			`{"model": "m", "input": ["a", "b"], "truncate_prompt_tokens": -1}`,
		},
		{
			"newest, pooling", "pooling", spec.CompatVLLM, nil,
			dialect.Prompt{Text: "a"},
			`{"model": "m", "truncate_prompt_tokens": -1, "input": "a"}`,
		},
		{
			"newest, rerank", "rerank", spec.CompatVLLM, nil,
			dialect.Prompt{Text: "a", Texts: []string{"b"}},
			`{"model": "m", "query": "a", "documents": ["b"], "truncate_prompt_tokens": -1}`,
		},
		{"0.10", "completions", spec.CompatVLLM010, nil, p, `{"model": "m", "prompt": ` + text +
			`, "temperature": 0.0, "repetition_penalty": 1.0, "max_tokens": 16, "logprobs": null, "stream": true, ` +
			usage + `}`},
		{
			"0.10, temperature", "completions", spec.CompatVLLM010, func(o *Options) {
				o.Sampling.Temperature, o.IgnoreEOS = new(1.0), true
			},
			dialect.Prompt{Text: "a", OutputTokens: 2},
			`{"model": "m", "prompt": "a", "temperature": 1.0, "repetition_penalty": 1.0, "max_tokens": 2, "logprobs": null, "stream": true, ` + usage + `, "ignore_eos": true}`,
		},
		{"0.10, chat", "chat", spec.CompatVLLM010, nil, p, `{"model": "m", "messages": ` + said +
			`, "temperature": 0.0, "max_completion_tokens": 16, "stream": true, ` + usage + `}`},
		{"0.10, tgi", "tgi", spec.CompatVLLM010, nil, p, `{"inputs": ` + text +
			`, "parameters": {"max_new_tokens": 16, "do_sample": true, "temperature": 0.01, "top_p": 0.99, "truncate": 12, "ignore_eos_token": false}}`},
		{"0.6", "completions", spec.CompatVLLM06, nil, p, `{"model": "m", "prompt": ` + text +
			`, "temperature": 0.0, "best_of": 1, "max_tokens": 16, "logprobs": null, "stream": true, "ignore_eos": false}`},
		{
			"0.6, chat", "chat", spec.CompatVLLM06, func(o *Options) { o.IgnoreEOS = true }, p,
			`{"model": "m", "messages": ` + said +
				`, "temperature": 0.0, "max_completion_tokens": 16, "stream": true, "ignore_eos": true}`,
		},
		{"0.6, tgi", "tgi", spec.CompatVLLM06, nil, p, `{"inputs": ` + text +
			`, "parameters": {"best_of": 1, "max_new_tokens": 16, "do_sample": true, "temperature": 0.01, "top_p": 0.99, "truncate": 12}}`},
	}
	for _, tt := range tests {
		o := Options{Target: Target{API: tt.api, Model: "m"}, Settings: spec.Settings{Compat: tt.bodies}}
		if tt.edit != nil {
			tt.edit(&o)
		}
		api, err := dialect.APINamed(tt.api)
		if err != nil {
			t.Fatal(err)
		}
		got, err := api.Encode(o.common(), dialect.Ask{Prompt: tt.p})
		if diff := cmp.Diff(tt.want, string(got.Body)); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", tt.name, err, diff)
		}
	}
}

// TestForms: audio goes as a form, the file first.
func TestForms(t *testing.T) {
	api, err := dialect.APINamed("transcriptions")
	if err != nil {
		t.Fatal(err)
	}
	form := func(o Options, p dialect.Prompt) (string, int, error) {
		o.Target = Target{API: "transcriptions", Model: "m"}
		e, err := api.Encode(o.common(), dialect.Ask{Prompt: p})
		if err != nil {
			return "", 0, err
		}
		_, params, err := mime.ParseMediaType(api.ContentType())
		if err != nil {
			t.Fatal(err)
		}
		var fields []string
		parts := multipart.NewReader(bytes.NewReader(e.Body), params["boundary"])
		for {
			part, err := parts.NextPart()
			if errors.Is(err, io.EOF) {
				return strings.Join(fields, " "), e.Asked, nil
			}
			if err != nil {
				t.Fatal(err)
			}
			value, err := io.ReadAll(part)
			if err != nil {
				t.Fatal(err)
			}
			name := part.FormName()
			if part.FileName() != "" {
				name += "(" + part.FileName() + ", " + part.Header.Get("Content-Type") + ")"
			}
			fields = append(fields, name+"="+string(value))
		}
	}

	wav := dialect.Prompt{Audio: []byte("RIFF\r\n\x00\xff"), AudioS: 1}
	file := "file(audio.wav, audio/wav)=RIFF\r\n\x00\xff model=m response_format=json"
	limited := wav
	limited.OutputTokens = 9
	body := map[string]any{
		"language": "en", "stream_include_usage": nil, "temperature": 0.5,
		"include[]": []any{"logprobs", "other"},
	}
	for _, c := range []struct {
		name  string
		o     Options
		p     dialect.Prompt
		want  string
		asked int
	}{
		{"streamed", Options{}, wav, file + " stream=true stream_include_usage=true", 0},
		{"whole", Options{Settings: spec.Settings{NoStream: true}}, wav, file, 0},
		{
			"limited",
			Options{},
			limited,
			file + " max_completion_tokens=9 stream=true stream_include_usage=true", 9,
		},
		{
			"greedy",
			Options{Settings: spec.Settings{Sampling: spec.Sampling{Temperature: new(0.0)}}},
			wav,
			file + " stream=true stream_include_usage=true temperature=0", 0,
		},
		{
			"own fields",
			Options{Settings: spec.Settings{Body: body}},
			wav,
			file + " stream=true include[]=logprobs include[]=other language=en temperature=0.5", 0,
		},
	} {
		got, asked, err := form(c.o, c.p)
		if err != nil || got != c.want || asked != c.asked {
			t.Errorf("%s: %q, asked %d (%v), want %q, %d", c.name, got, asked, err, c.want, c.asked)
		}
	}

	boundary := api.ContentType()[strings.Index(api.ContentType(), "=")+1:]
	if _, _, err := form(Options{}, dialect.Prompt{Audio: []byte("x" + boundary)}); err == nil ||
		!strings.Contains(err.Error(), "which separates the fields") {
		t.Errorf("a file with the boundary in it: %v", err)
	}
	example, err := ExampleBody(Options{Target: Target{API: "transcriptions", Model: "m"}}, wav)
	if err != nil || !strings.Contains(example, "... 8 bytes of a WAV file ...") {
		t.Errorf("example %q (%v)", example, err)
	}
}

// TestFormHeader: either transport announces a form to the server.
func TestFormHeader(t *testing.T) {
	for _, transport := range []string{spec.TransportSockets, spec.TransportHTTP} {
		s := newRawServer(t, say("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n"+
			`{"text":"a"}`))
		o := options(s.url, "transcriptions")
		o.NoStream, o.Transport = true, transport
		var record results.Record
		prompts := []dialect.Prompt{{Audio: []byte("RIFF"), AudioS: 1.5}}
		_, err := Run(t.Context(), o, prompts, func(r results.Record) error {
			record = r
			return nil
		})
		if err != nil || record.Failure != nil || record.AudioS != 1.5 {
			t.Errorf("%s: %v, failure %v, %v s of audio", transport, err, record.Failure, record.AudioS)
		}
		if got := s.hdr[0].Get("Content-Type"); !strings.HasPrefix(got, "multipart/form-data; boundary=") {
			t.Errorf("%s: content type %q", transport, got)
		}
	}
}
