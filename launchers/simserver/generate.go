package simserver

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"time"
)

// maxBody limits a request body; longer than any context the presets have.
const maxBody = 64 << 20

// answer is a request while it is answered.
type answer struct {
	generation
	id       string // with the endpoint's prefix
	created  int64
	seq      *sequence
	fault    Fault
	record   *truthRecord // nil: not kept
	produced int          // output tokens received from the engine
	started  time.Time
	first    time.Time // engine time of the first token
	last     time.Time
	end      finish
}

// generate answers both completion endpoints.
func (s *server) generate(w http.ResponseWriter, r *http.Request, chat bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		s.writeError(w, badRequest("read request body: %v", err))
		return
	}
	g, apiErr := s.parser.parse(body, chat)
	if apiErr != nil {
		s.writeError(w, apiErr)
		return
	}
	n := int(s.requests.Add(1))
	fault, _ := s.cfg.faultOf(n)
	if fault.Kind == FaultRefuse {
		s.writeError(w, newError(fault.Status, "ServiceUnavailableError", "simulated fault: request refused"))
		return
	}
	a := s.newAnswer(g, r.Header.Get("X-Request-Id"), n, fault)
	s.engine.submit(a.seq)
	defer s.engine.abort(a.seq)
	defer s.truth.finish(a)
	if g.stream {
		s.streamAnswer(w, r, a)
	} else {
		s.wholeAnswer(w, r, a)
	}
}

func (s *server) newAnswer(g generation, requestID string, n int, fault Fault) *answer {
	key := mix(hashTokens(mix(uint64(s.cfg.Seed), g.seed), g.prompt), 7)
	if requestID == "" {
		requestID = "sim-" + strconv.Itoa(n)
	}
	prefix := "cmpl-"
	if g.chat || s.llamaCpp() {
		prefix = "chatcmpl-"
	}
	salt := hashString(0, g.salt)
	if g.noCache {
		salt = mix(salt, uint64(n)) // shares with nobody
	}
	length, stops := answerLength(key, g.limit, g.least, g.ignoreEOS)
	now := time.Now()
	a := &answer{generation: g, id: prefix + requestID, created: now.Unix(), started: now, fault: fault}
	a.seq = &sequence{
		key: key, salt: salt, prompt: g.prompt, spoken: s.tok.spoken,
		answer: length, stops: stops, target: length, fault: fault.Kind, out: newStream(),
	}
	a.record = s.truth.start(a, requestID, now)
	return a
}

// next waits for the engine and appends its events; false when the client has
// left.
func (a *answer) next(ctx context.Context, into []event) ([]event, bool) {
	select {
	case <-ctx.Done():
		return into, false
	case <-a.seq.out.ready:
		return a.seq.out.take(into), true
	}
}

// note follows an event: counts, times, truth. It is called right before the
// event's bytes are written.
func (a *answer) note(e event) {
	if a.produced == 0 {
		a.first = e.at
	}
	a.produced += e.n
	a.last = e.at
	a.end = e.finish
	a.record.add(e)
}

// appendText appends the text of an event's tokens. Answers are made of plain
// letters and spaces, so that nothing has to be escaped in JSON.
func (s *server) appendText(buf []byte, a *answer, e event) []byte {
	for i := e.from; i < e.from+e.n; i++ {
		buf = append(buf, s.tok.piece(a.seq.outputToken(i))...)
	}
	return buf
}

// streamAnswer sends one server-sent event a step.
func (s *server) streamAnswer(w http.ResponseWriter, r *http.Request, a *answer) {
	out := newEventWriter(w)
	var chunks chunkWriter = newVLLMChunks(s, a)
	if s.llamaCpp() {
		chunks = newLlamaChunks(s, a)
	} else {
		out.start() // vLLM's headers go out before the first token, llama-server's with it
	}
	var events []event
	for {
		var ok bool
		if events, ok = a.next(r.Context(), events[:0]); !ok {
			return
		}
		for _, e := range events {
			a.note(e)
			if e.finish == finishTruncate {
				panic(http.ErrAbortHandler) // net/http's way to cut the connection
			}
			if !chunks.write(out, e) || e.finish != finishNone {
				return
			}
		}
	}
}

// wholeAnswer sends one JSON body when the answer is complete.
func (s *server) wholeAnswer(w http.ResponseWriter, r *http.Request, a *answer) {
	var text []byte
	var events []event
	for a.end == finishNone {
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
	case finishTruncate:
		panic(http.ErrAbortHandler)
	case finishError:
		s.writeError(w, midStreamError())
	default:
		writeJSON(w, s.answerObject(a, string(text)))
	}
}

// midStreamError is what the fault error sends.
func midStreamError() *apiError {
	return newError(http.StatusInternalServerError, "InternalServerError", "simulated fault: the engine failed in this request")
}
