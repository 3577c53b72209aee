package simserver

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

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
	produced int          // output tokens received from the engine
	started  time.Time
	first    time.Time // engine time of the first token
	last     time.Time
	end      simengine.Finish
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
	fault, _ := s.cfg.FaultOf(n)
	if fault.Kind == simengine.FaultRefuse {
		s.writeError(w, newError(fault.Status, "ServiceUnavailableError", "simulated fault: request refused"))
		return
	}

	a := s.newAnswer(g, r.Header.Get("X-Request-Id"), n, fault)
	s.engine.Submit(a.seq)
	defer s.engine.Abort(a.seq)
	defer s.truth.finish(a)

	if g.stream {
		s.streamAnswer(w, r, a)
	} else {
		s.wholeAnswer(w, r, a)
	}
}

func (s *server) newAnswer(g generation, requestID string, n int, fault simengine.Fault) *answer {
	key := simengine.Mix(simengine.HashTokens(simengine.Mix(uint64(s.cfg.Seed), g.seed), g.prompt), 7)
	if requestID == "" {
		requestID = "sim-" + strconv.Itoa(n)
	}

	prefix := "cmpl-"
	if g.chat || s.llamaCpp() {
		prefix = "chatcmpl-"
	}

	salt := simengine.HashString(0, g.salt)
	if g.noCache {
		salt = simengine.Mix(salt, uint64(n)) // shares with nobody
	}

	length, stops := simengine.AnswerLength(key, g.limit, g.least, g.ignoreEOS)
	now := time.Now()
	a := &answer{generation: g, id: prefix + requestID, created: now.Unix(), started: now, fault: fault}
	a.seq = &simengine.Sequence{
		Key: key, Salt: salt, Prompt: g.prompt, Spoken: s.tok.Spoken,
		Answer: length, Stops: stops, Target: length, Fault: fault.Kind, Out: simengine.NewStream(),
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

// streamAnswer sends one server-sent event a step.
func (s *server) streamAnswer(w http.ResponseWriter, r *http.Request, a *answer) {
	out := newEventWriter(w)
	var chunks chunkWriter = newVLLMChunks(s, a)
	if s.llamaCpp() {
		chunks = newLlamaChunks(s, a)
	} else {
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
		writeJSON(w, s.answerObject(a, string(text)))
	}
}

// midStreamError is what the fault error sends.
func midStreamError() *apiError {
	return newError(http.StatusInternalServerError, "InternalServerError",
		"simulated fault: the engine failed in this request")
}
