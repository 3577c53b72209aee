package launchers

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/benchrig/bench/results"
)

const (
	smokeBody = 1 << 10 // kept of the answer, bytes
	smokeTold = 4 << 10 // of an error, in the failure
)

// smoke sends the request and keeps the answer. Nil: it succeeded, or none was
// asked for. Where the server's log says why it failed, that is the failure.
func (s *Server) smoke(ctx context.Context) *results.Failure {
	if s.spec.Smoke.Path == "" {
		return nil
	}
	s.stand("the smoke request (" + s.spec.Smoke.Path + ")")
	began := time.Now()
	a := s.probe.ask(ctx, http.MethodPost, s.spec.Smoke.Path, s.spec.Smoke.Body, tokenTime)
	answer := results.SmokeAnswer{
		Path: s.spec.Smoke.Path, Status: a.status, Body: s.redact.Text(beginning(a.body, smokeBody)), TookS: time.Since(began).Seconds(),
	}
	s.mu.Lock()
	s.info.Smoke = &answer
	s.mu.Unlock()
	why := smokeTrouble(a)
	if why == "" && ctx.Err() == nil {
		s.passed("smoke")
		return nil
	}
	failure := results.Failf(results.FailSmoke, "%s", cmp.Or(why, "ended: "+fmt.Sprint(context.Cause(ctx))))
	failure.HTTPStatus = a.status
	return s.smokeCause(ctx, failure)
}

// smokeCause waits a moment for the log's last words: a request that kills its
// engine is answered before the engine is known to be dead.
func (s *Server) smokeCause(ctx context.Context, failure *results.Failure) *results.Failure {
	timer := time.NewTimer(lastWords + watchStart)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	if ctx.Err() == nil {
		return failure
	}
	cause, known := errors.AsType[*results.Failure](context.Cause(ctx))
	if !known {
		return s.givenUp(ctx, failure.Message)
	}
	told := *cause
	told.Message += "; at the smoke request: " + failure.Message
	return &told
}

// smokeTrouble says what is wrong with an answer, in the server's own words;
// "": it is a completion.
func smokeTrouble(a answer) string {
	switch {
	case a.err != nil:
		return a.String()
	case !a.ok():
		return fmt.Sprintf("%s: status %d, %s", a.what, a.status, beginning(a.body, smokeTold))
	}
	came, err := readToken(bytes.NewReader(oneLine(a.body)))
	switch {
	case err != nil:
		return fmt.Sprintf("%s: status %d, %v", a.what, a.status, err)
	case !came && !nativeAnswer(a.body):
		return fmt.Sprintf("%s: status %d, and no completion in the answer: %s", a.what, a.status, beginning(a.body, smokeTold))
	}
	return ""
}

// nativeAnswer recognizes answers of APIs that are not OpenAI's: TGI's,
// SGLang's and Ollama's own.
func nativeAnswer(body []byte) bool {
	var told struct {
		Generated string `json:"generated_text"`
		Text      string `json:"text"`
		Response  string `json:"response"`
		Message   delta  `json:"message"`
	}
	return json.Unmarshal(body, &told) == nil && told.Generated+told.Text+told.Response+told.Message.Content != ""
}

// oneLine puts a JSON answer that is spread over lines into one, as events
// are; what is no JSON stays.
func oneLine(body []byte) []byte {
	if trimmed := bytes.TrimSpace(body); len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') {
		return bytes.ReplaceAll(bytes.ReplaceAll(trimmed, []byte("\n"), nil), []byte("\r"), nil)
	}
	return body
}

// beginning is as much of a text as is kept.
func beginning(text []byte, limit int) string {
	text = bytes.TrimSpace(text)
	if len(text) > limit {
		return strings.ToValidUTF8(string(text[:limit]), "") + " ..."
	}
	return strings.ToValidUTF8(string(text), "\ufffd")
}
