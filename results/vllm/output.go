package vllm

import (
	"strings"

	"github.com/benchrig/bench/results"
)

// Output is what vLLM's client stores of one request: the input of all
// its figures. Times are seconds, StartS counts from the start of the pass.
type Output struct {
	Success   bool
	StartS    float64
	QueueS    float64 // from the intended send to the start
	TTFTS     float64 // 0: no first token
	ITLS      []float64
	LatencyS  float64 // 0 for failed requests
	PromptLen *int    // null: not known
	OutputLen *int    // null: the text would have to be tokenized again
	UsageRead bool    // OutputLen is the server's
	EmptyText bool    // no text that this client collects
	Text      *string // what the client collects; null: not kept
	Error     string
}

// Reads reports whether vLLM's clients read streams of an API, so that what
// they would have shown can be known; "" is that of runs that others measured.
func Reads(api string) bool { return api == "" || api == "completions" || api == "chat" }

// Read is the record as a client of generation g stores it, for the API
// "completions" or "chat". With usageAsked the usage event is there because bench
// asked for it: VLLM06 does not ask, so its reading is without. The second value
// is false for a request that was never made.
func Read(r *results.Record, g results.Generation, api string, usageAsked bool) (Output, bool) {
	if r.SentS == nil && r.Failure != nil && r.Failure.Class == results.FailCanceled {
		return Output{}, false
	}

	out := Output{StartS: r.IntendedS, PromptLen: r.LocalInputTokens}
	if r.SentS != nil {
		out.StartS = *r.SentS
	}

	out.QueueS = max(out.StartS-r.IntendedS, 0)
	if r.OutputTokensSource == results.CountNumbers || r.Failure != nil && (results.Asked{API: api}).Numbers() {
		out.readNumbers(r)
		return out, true
	}
	s := streamFor(r, g)
	if g == results.VLLM06 {
		if usageAsked {
			s = s.withoutUsage()
		}
		s.byDecember2024(&out, api == "chat")
	} else {
		s.byUsageAge(&out, g, api == "chat")
	}

	if !out.Success {
		out.LatencyS, out.OutputLen, out.Text = 0, new(0), new("")
		if out.Error == noDone { // it fails after the text was stored
			out.Text = s.text
		}
		out.keepCause(r)
		return out, true
	}

	out.Text = s.text

	out.OutputLen = s.outputLen(&out, r)
	out.keepCause(r)
	return out, true
}

// readNumbers reads an answer of numbers: its only time is that of its end.
func (out *Output) readNumbers(r *results.Record) {
	out.OutputLen, out.Text, out.UsageRead = new(0), new(""), true
	if r.Failure != nil {
		out.Error = r.Failure.Message
		return
	}
	out.Success = true
	out.LatencyS = r.EndS - out.StartS
	out.TTFTS = out.LatencyS
	out.PromptLen = new(0)
	if r.InputTokens != nil {
		out.PromptLen = r.InputTokens
	}
}

// keepCause notes the server's words of an error inside a stream, which vLLM's
// client loses.
func (out *Output) keepCause(r *results.Record) {
	if r.Failure != nil && r.Failure.Class == results.FailInBand {
		out.Error = r.Failure.Message
	}
}

// clientStream is what a client's parser yields of a stream.
type clientStream struct {
	kinds         string
	times         []float64
	done          *float64
	input, output *int // of a usage event without choices
	textDiffers   bool // from the record's
	text          *string
	broken        string // an exception that ends the reading; "": none
}

// streamFor takes the reading of the raw reads where there is one, else the
// events of the record.
func streamFor(r *results.Record, g results.Generation) clientStream {
	of := g
	if g == results.VLLM2605 {
		of = results.VLLM // the same parser
	}
	if own, ok := r.VLLMReading[of]; ok {
		return clientStream{
			kinds: own.ChunkKinds, times: own.ChunkS, done: own.DoneS, input: own.InputTokens, output: own.OutputTokens,
			textDiffers: own.TextDiffers, text: &own.Text, broken: own.Error,
		}
	}

	s := clientStream{kinds: r.ChunkKinds, times: r.ChunkS, done: r.DoneS, text: r.Content}
	if s.text == nil && strings.IndexByte(r.ChunkKinds, byte(results.ChunkReasoning)) < 0 {
		s.text = &r.Text
	}
	if strings.IndexByte(r.ChunkKinds, byte(results.ChunkUsage)) >= 0 {
		s.input = r.InputTokens
		if r.OutputTokensSource == results.CountUsage {
			s.output = r.OutputTokens
		}
	}

	if r.Failure != nil && breaksReading(r.Failure.Class, g) {
		s.broken = r.Failure.Error()
	}

	return s
}

// withoutUsage leaves the usage events out.
func (s clientStream) withoutUsage() clientStream {
	if strings.IndexByte(s.kinds, byte(results.ChunkUsage)) < 0 {
		return s
	}
	kinds, times := make([]byte, 0, len(s.kinds)), make([]float64, 0, len(s.times))
	for i, at := range s.times[:min(len(s.times), len(s.kinds))] {
		if results.ChunkKind(s.kinds[i]) != results.ChunkUsage {
			kinds, times = append(kinds, s.kinds[i]), append(times, at)
		}
	}
	s.kinds, s.times = string(kinds), times
	return s
}

// breaksReading says which of our failures are failures of every client's
// reading. The others are judgements about a stream that was read to its end.
func breaksReading(class results.FailureClass, g results.Generation) bool {
	switch class {
	case results.FailInBand, results.FailTruncated, results.FailNoTokens:
		return false
	case results.FailProtocol:
		return g == results.VLLM010 || g == results.VLLM06
	default:
		return true
	}
}

// NoChoices is the error of VLLM06 at an event without choices.
const NoChoices = "an event without choices came"

// noDone is the error of VLLM06 at a stream without its end mark.
const noDone = "no [DONE] came"

func hasChoices(k results.ChunkKind) bool {
	switch k {
	case results.ChunkText, results.ChunkReasoning, results.ChunkTool, results.ChunkEmpty, results.ChunkRole,
		results.ChunkFinish:
		return true
	default:
		return false
	}
}

// byUsageAge reads as the clients since 2025 do: every chunk with choices is a
// token, usage counts from events without choices.
func (s clientStream) byUsageAge(out *Output, g results.Generation, chat bool) {
	older := chat && g != results.VLLM
	latest, first := out.StartS, true
	for i, at := range s.times[:min(len(s.times), len(s.kinds))] {
		kind := results.ChunkKind(s.kinds[i])
		switch {
		case hasChoices(kind) && first:
			out.TTFTS, first, latest = at-out.StartS, false, at
		case hasChoices(kind):
			out.ITLS = append(out.ITLS, at-latest)
			latest = at
		case older:
			latest = at
		}
	}

	out.LatencyS = latest - out.StartS
	out.Error = s.broken
	if first && !older && out.Error == "" {
		out.Error = "no chunk with choices came"
	}

	out.Success = out.Error == ""
	out.UsageRead = s.output != nil && *s.output > 0
	if s.input != nil && g != results.VLLM010 {
		out.PromptLen = s.input
	}
}

// byDecember2024 reads as v0.6.5 does: only text is a token, an event without
// choices is fatal, and the latency is that of [DONE].
func (s clientStream) byDecember2024(out *Output, chat bool) {
	latest, first := out.StartS, true
	for i, at := range s.times[:min(len(s.times), len(s.kinds))] {
		kind := results.ChunkKind(s.kinds[i])
		switch {
		case !hasChoices(kind):
			out.Error = NoChoices
			return
		case kind != results.ChunkText:
			if chat {
				latest = at
			}
			continue
		case first:
			out.TTFTS, first = at-out.StartS, false
		default:
			out.ITLS = append(out.ITLS, at-latest)
		}
		latest = at
	}

	switch {
	case s.broken != "":
		out.Error = s.broken
	case s.done == nil:
		out.Error = noDone
	default:
		out.Success, out.LatencyS = true, *s.done-out.StartS
	}
}

// outputLen is the length of a successful answer: the server's where that is
// read, else that of its text, tokenized again.
func (s clientStream) outputLen(out *Output, r *results.Record) *int {
	if out.UsageRead {
		return s.output
	}
	out.EmptyText = strings.IndexByte(s.kinds, byte(results.ChunkText)) < 0
	switch {
	case out.EmptyText:
		return new(0)
	case s.textDiffers:
		return nil // the record's count is that of another text
	case strings.IndexByte(s.kinds, byte(results.ChunkReasoning)) >= 0:
		return r.ContentTokens
	case r.TextTokens == nil && r.OutputTokensSource == results.CountTokenize:
		return r.OutputTokens // the server's own tokenizer on the same text
	}
	return r.TextTokens
}
