// Package dialect has the APIs that inference servers speak, one file each.
//
// What goes in: prompts and the settings that all requests of a pass share;
// events of answers, one at a time. What comes out: request bodies, and each
// event in terms that all APIs share (event.Chunk). It does no I/O and keeps no
// time.
package dialect

import (
	"fmt"
	"slices"
	"strings"
)

// API is one body dialect that servers speak.
type API struct {
	Name        string // for Target.API
	DefaultPath string
	TokenIDs    bool // prompts may be token ids
	Images      bool // prompts may have images
	Messages    bool // conversations go as messages, not as one text
	IgnoreEOS   bool // has a field that keeps the model from ending early
	Lines       bool // streams JSON lines, not server-sent events
	Tools       bool // requests may offer tools, and answers call them
	Audio       bool // takes WAV files, as forms, and nothing else
	Numbers     bool // answers with numbers, embeddings or scores: whole, without output tokens

	codec codec
}

// APIs lists the dialects, the most common first.
func APIs() []API {
	return []API{
		{Name: "completions", DefaultPath: "/v1/completions", TokenIDs: true, IgnoreEOS: true, codec: completions{}},
		{
			Name: "chat", DefaultPath: "/v1/chat/completions", Images: true, Messages: true, IgnoreEOS: true,
			Tools: true,
			codec: chat{},
		},
		{
			Name: "responses", DefaultPath: "/v1/responses", Images: true, Messages: true, IgnoreEOS: true,
			Tools: true,
			codec: responses{},
		},
		{
			Name: "messages", DefaultPath: "/v1/messages", Images: true, Messages: true, Tools: true,
			codec: anthropic{},
		},
		{Name: "llamacpp", DefaultPath: "/completion", TokenIDs: true, IgnoreEOS: true, codec: llamaCPP{}},
		{Name: "tgi", DefaultPath: "/generate_stream", codec: tgi{}},
		{Name: "sglang", DefaultPath: "/generate", TokenIDs: true, IgnoreEOS: true, codec: sglang{}},
		{Name: "ollama", DefaultPath: "/api/generate", Images: true, Lines: true, codec: ollama{}},
		{
			Name: "ollama-chat", DefaultPath: "/api/chat", Images: true, Messages: true, Lines: true,
			codec: ollama{chat: true},
		},
		{Name: "transcriptions", DefaultPath: "/v1/audio/transcriptions", Audio: true, codec: transcriptions{}},
		{Name: "embeddings", DefaultPath: "/v1/embeddings", TokenIDs: true, Numbers: true, codec: embeddings{}},
		{Name: "pooling", DefaultPath: "/pooling", TokenIDs: true, Numbers: true, codec: embeddings{}},
		{Name: "rerank", DefaultPath: "/v1/rerank", Numbers: true, codec: rerank{}},
		{Name: "score", DefaultPath: "/score", Numbers: true, codec: score{}},
	}
}

// APINamed returns the API of a name.
func APINamed(name string) (API, error) {
	for _, a := range APIs() {
		if a.Name == name {
			return a, nil
		}
	}
	return API{}, fmt.Errorf("choose API: got %q, want one of %s", name, strings.Join(Names(), ", "))
}

// Names lists the names of APIs.
func Names() []string {
	var names []string
	for _, a := range APIs() {
		names = append(names, a.Name)
	}
	return names
}

// OfPath returns the API whose usual path ends this one. The longest counts:
// /api/generate is Ollama's, not SGLang's /generate behind /api.
func OfPath(path string) (found API, ok bool) {
	for _, a := range APIs() {
		if strings.HasSuffix(path, a.DefaultPath) && len(a.DefaultPath) > len(found.DefaultPath) {
			found, ok = a, true
		}
	}
	return found, ok
}

// IsOpenAI reports whether the API is one of OpenAI's, which vLLM's client
// speaks.
func (a API) IsOpenAI() bool {
	switch a.codec.(type) {
	case completions, chat:
		return true
	default:
		return false
	}
}

// Misfit returns why prompts of a kind of dataset cannot go through the API, in words
// that follow its name; "": nothing about the kind speaks against it.
func (a API) Misfit(kind string) string {
	ranks := a.Name == "rerank" || a.Name == "score"
	speech := kind == "random_audio" || kind == "audio"
	switch {
	case kind == "frozen": // it may have prompts of any kind
	case a.Audio && !speech:
		return "takes audio: it needs dataset random_audio or audio"
	case speech && !a.Audio:
		return "takes no audio: dataset " + kind + " is for transcriptions"
	case ranks && !slices.Contains([]string{"random_rerank", "jsonl", "custom"}, kind):
		return "compares documents with a query: it needs dataset random_rerank or jsonl"
	case kind == "random_rerank" && !ranks:
		return "compares no documents: dataset random_rerank is for rerank and score"
	case kind == "tok_inputs" && !a.TokenIDs:
		return "takes text, not token ids: dataset tok_inputs needs another, such as completions"
	case kind == "random_mm" && !a.Images:
		return "takes no images: dataset random_mm needs another, such as chat"
	}
	return ""
}

// NoProbes returns why probes, which are texts for one token, cannot go through the API, in
// words that follow its name; "": they can.
func (a API) NoProbes() string {
	switch {
	case a.Numbers:
		return "answers with numbers: probes ask for tokens"
	case a.Audio:
		return "takes audio: probes are texts"
	}
	return ""
}

// checkTools refuses tools that the API cannot carry.
func (a API) checkTools(o *Common, q Ask) error {
	if q.offersTools(o) && !a.Tools {
		return fmt.Errorf("encode tools: the %s API takes none; use the chat, responses or messages API", a.Name)
	}
	return nil
}

// check refuses a prompt that the API cannot carry.
func (a API) check(p Prompt) error {
	alone := p.Text == "" && len(p.TokenIDs)+len(p.Images)+len(p.Texts)+len(p.Turns) == 0

	switch {
	case a.Audio && len(p.Audio) > 0 && alone:
		return nil
	case a.Audio:
		return fmt.Errorf("encode prompt: the %s API takes audio alone: use dataset random_audio or audio", a.Name)
	case len(p.Audio) > 0:
		return fmt.Errorf("encode prompt: the %s API takes no audio; use the transcriptions API", a.Name)
	case (p.Text != "") == (len(p.TokenIDs) > 0):
		return fmt.Errorf("encode prompt: want either text or token ids, got %d bytes and %d ids", len(p.Text),
			len(p.TokenIDs))
	case !a.TokenIDs && (len(p.TokenIDs) > 0 || slices.ContainsFunc(p.Turns, Turn.isIDs)):
		return fmt.Errorf("encode prompt: the %s API takes text, not token ids; use the completions API", a.Name)
	case len(p.Texts) > 0 && !a.Numbers:
		return fmt.Errorf("encode prompt: the %s API takes one text a request: leave batch-size out", a.Name)
	case len(p.Turns) > 0 && a.Numbers:
		return fmt.Errorf("encode prompt: the %s API takes no conversations", a.Name)
	case len(p.Images) > 0 && !a.Images:
		return fmt.Errorf("encode prompt: the %s API takes no images; use the chat API", a.Name)
	}

	return p.checkTurns()
}
