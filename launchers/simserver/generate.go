package simserver

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/benchrig/bench/dataset/exact"
	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// maxBody limits a request body; longer than any context the presets have.
const maxBody = 64 << 20

// answer is a request while it is answered.
type answer struct {
	generation
	id       string // with the endpoint's prefix
	created  int64
	seq      *simengine.Sequence
	fault    simengine.Fault
	record   *truthRecord // nil: not kept
	call     *toolCall    // nil: it answers in words
	produced int          // output tokens received from the engine
	started  time.Time
	first    time.Time // engine time of the first token
	last     time.Time
	end      simengine.Finish
}

// api is what a path speaks: how its bodies are read and its answers written.
type api struct {
	chat   bool   // the prompt is a conversation, else a text
	tools  bool   // it may be answered with calls of tools
	prefix string // of ids
	read   func(body []byte) (requestBody, error)
	whole  func(a *answer, text string) any
	stream func(a *answer) chunkWriter
}

// openAI is the API of a completion endpoint.
func (s *server) openAI(chat bool) api {
	o := api{
		chat: chat, tools: chat, prefix: "cmpl-",
		read: func(body []byte) (b requestBody, err error) { return b, json.Unmarshal(body, &b) },
		whole: func(a *answer, text string) any {
			return s.answerObject(a, text)
		},
		stream: func(a *answer) chunkWriter { return newVLLMChunks(s, a) },
	}
	if s.llamaCpp() {
		o.stream = func(a *answer) chunkWriter { return newLlamaChunks(s, a) }
	}
	if chat || s.llamaCpp() {
		o.prefix = "chatcmpl-"
	}
	return o
}

// admit numbers a request and returns its fault; ok is false if that is to be
// refused, which it was.
func (s *server) admit(w http.ResponseWriter) (n int, fault simengine.Fault, ok bool) {
	n = int(s.requests.Add(1))
	fault, _ = s.cfg.FaultOf(n)
	if fault.Kind == simengine.FaultRefuse {
		s.writeError(w, newError(fault.Status, "ServiceUnavailableError", "simulated fault: request refused"))
		return n, fault, false
	}
	return n, fault, true
}

// generate answers the endpoints that generate text.
func (s *server) generate(w http.ResponseWriter, r *http.Request, api api) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		s.writeError(w, badRequest("read request body: %v", err))
		return
	}

	g, apiErr := s.parser.parse(body, api)
	if apiErr != nil {
		s.writeError(w, apiErr)
		return
	}

	s.answer(w, r, g)
}

// answer has the engine generate what a checked request asks for.
func (s *server) answer(w http.ResponseWriter, r *http.Request, g generation) {
	n, fault, ok := s.admit(w)
	if !ok {
		return
	}

	a := s.newAnswer(g, r.Header.Get("X-Request-Id"), n, fault)
	a.seq.Wrong = s.cfg.AnswersWrong(int(s.inFlight.Add(1)))
	defer s.inFlight.Add(-1)
	if s.answeredBefore(a.seq.Key) {
		a.seq.AnswerAtOnce(time.Now())
	} else {
		s.engine.Submit(a.seq)
		defer s.engine.Abort(a.seq)
	}
	defer s.truth.finish(a)

	if g.stream {
		s.streamAnswer(w, r, a)
	} else {
		s.wholeAnswer(w, r, a)
	}
}

// exactAnswer are the tokens of the right answer to a question of package exact; nil:
// the prompt asks none.
func (s *server) exactAnswer(g generation) []int32 {
	const longest = 256 // tokens of such a prompt
	if g.ignoreEOS || len(g.prompt) > longest {
		return nil
	}
	q, ok := exact.Find(s.tok.Decode(g.prompt))
	if !ok {
		return nil
	}
	return s.tok.Encode(nil, " "+q.Want)
}

// answeredBefore reports whether an answer comes from a cache of answers, which only a
// fault makes.
func (s *server) answeredBefore(key uint64) bool {
	if !s.cfg.HasFault(simengine.FaultCachedAnswers) {
		return false
	}
	_, before := s.answered.LoadOrStore(key, true)
	return before
}

func (s *server) newAnswer(g generation, requestID string, n int, fault simengine.Fault) *answer {
	key := simengine.Mix(simengine.HashTokens(simengine.Mix(uint64(s.cfg.Seed), g.seed), g.prompt), 7)
	if requestID == "" {
		requestID = "sim-" + strconv.Itoa(n)
	}

	salt := simengine.HashString(0, g.salt)
	if g.adapter != "" { // its answers and its KV are others
		key = simengine.HashString(key, g.adapter)
		salt = simengine.HashString(salt, g.adapter)
	}
	if g.noCache {
		salt = simengine.Mix(salt, uint64(n)) // shares with nobody
	}

	length, stops := simengine.AnswerLength(key, g.limit, g.least, g.ignoreEOS)
	now := time.Now()
	a := &answer{generation: g, id: g.api.prefix + requestID, created: now.Unix(), started: now, fault: fault}
	a.seq = &simengine.Sequence{
		Key: key, Salt: salt, Priority: g.priority, Prompt: g.prompt, Spoken: s.tok.Spoken,
		Answer: length, Stops: stops, Target: length, Fault: fault.Kind, Out: simengine.NewStream(),
	}

	if says := s.exactAnswer(g); says != nil {
		a.seq.Says, a.seq.Stops = says, len(says) < g.limit
		a.seq.Answer = min(len(says)+1, g.limit)
		a.seq.Target = a.seq.Answer
	}

	if a.call = s.callOf(g, n); a.call != nil {
		a.seq.Stops = a.call.tokens() <= g.limit
		a.seq.Answer = min(a.call.tokens(), g.limit)
		a.seq.Target = a.seq.Answer
	}

	a.record = s.truth.start(a, requestID, now)
	return a
}

// next waits for the engine and appends its events; false when the client has
// left.
func (a *answer) next(ctx context.Context, into []simengine.Event) ([]simengine.Event, bool) {
	select {
	case <-ctx.Done():
		return into, false
	case <-a.seq.Out.Ready:
		return a.seq.Out.Take(into), true
	}
}

// note follows an event: counts, times, truth. It is called right before the
// event's bytes are written.
func (a *answer) note(e simengine.Event) {
	if a.produced == 0 {
		a.first = e.At
	}
	a.produced += e.N
	a.last = e.At
	a.end = e.Finish
	a.record.add(e)
}

// appendText appends the text of an event's tokens. Answers are made of plain
// letters and spaces, so that nothing has to be escaped in JSON.
func (s *server) appendText(buf []byte, a *answer, e simengine.Event) []byte {
	for i := e.From; i < e.From+e.N; i++ {
		buf = append(buf, s.tok.Piece(a.seq.OutputToken(i))...)
	}
	return buf
}

// eventParts are what an event of the engine is sent as: in one piece, or token by
// token as llama-server does.
func (s *server) eventParts(e simengine.Event) []simengine.Event {
	if !s.llamaCpp() || e.N <= 1 {
		return []simengine.Event{e}
	}
	parts := make([]simengine.Event, e.N)
	for i := range parts {
		parts[i] = simengine.Event{From: e.From + i, N: 1}
	}
	return parts
}

// streamAnswer sends one server-sent event a step.
func (s *server) streamAnswer(w http.ResponseWriter, r *http.Request, a *answer) {
	out := newEventWriter(w)
	chunks := a.api.stream(a)
	if a.call != nil {
		chunks = &toolChunks{server: s, answer: a}
	}
	if !s.llamaCpp() {
		out.start() // vLLM's headers go out before the first token, llama-server's with it
	}

	var events []simengine.Event
	for {
		var ok bool
		if events, ok = a.next(r.Context(), events[:0]); !ok {
			return
		}
		for _, e := range events {
			a.note(e)
			if e.Finish == simengine.FinishTruncate {
				panic(http.ErrAbortHandler) // net/http's way to cut the connection
			}
			if !chunks.write(out, e) || e.Finish != simengine.FinishNone {
				return
			}
		}
	}
}

// wholeAnswer sends one JSON body when the answer is complete.
func (s *server) wholeAnswer(w http.ResponseWriter, r *http.Request, a *answer) {
	var text []byte
	var events []simengine.Event
	for a.end == simengine.FinishNone {
		var ok bool
		if events, ok = a.next(r.Context(), events[:0]); !ok {
			return
		}
		for _, e := range events {
			a.note(e)
			text = s.appendText(text, a, e)
		}
	}

	switch a.end {
	case simengine.FinishTruncate:
		panic(http.ErrAbortHandler)
	case simengine.FinishError:
		s.writeError(w, midStreamError())
	default:
		writeJSON(w, a.api.whole(a, string(text)))
	}
}

// midStreamError is what the fault error sends.
func midStreamError() *apiError {
	return newError(http.StatusInternalServerError, "InternalServerError",
		"simulated fault: the engine failed in this request")
}
