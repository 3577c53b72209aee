package load

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/benchrig/bench/load/dialect/event"
	"github.com/benchrig/bench/load/wire"
	"github.com/benchrig/bench/results"
)

// unsent turns the error of a request that got no answer into a failure.
// cause is why the request was ended, if bench ended it.
func unsent(err *wire.SendError, cause error) *results.Failure {
	if f := ended(cause); f != nil {
		if !err.Connected && f.Class != results.FailCanceled {
			return results.Failf(results.FailConnect, "no connection yet when the request was given up: %s", f.Message)
		}
		return f
	}
	switch {
	case !err.Connected:
		return results.Failf(results.FailConnect, "%v%s", err.Err, tlsHint(err.Err))
	case errors.Is(err.Err, wire.ErrHeadTooLong):
		return results.Failf(results.FailProtocol, "%v", err.Err)
	case strings.Contains(err.Err.Error(), "malformed HTTP"):
		return results.Failf(results.FailProtocol, "not an HTTP server: %s", plain(err.Err))
	}
	return results.Failf(results.FailTransport, "connection broken before the answer began: %s%s", plain(err.Err),
		reuseHint(err.Reused))
}

// broken turns the error that cut an answer into a failure.
func broken(err, cause error, chunks int, reused bool) *results.Failure {
	if f := ended(cause); f != nil {
		if chunks > 0 && f.Class != results.FailCanceled {
			f.Message += fmt.Sprintf(", after %d chunks", chunks)
		}
		return f
	}
	return results.Failf(results.FailTransport, "connection broken after %d chunks: %s%s", chunks, plain(err),
		reuseHint(reused && chunks == 0))
}

// ended is the failure of a request that bench ended itself, nil if it did
// not.
func ended(cause error) *results.Failure {
	if cause == nil {
		return nil
	}
	if limit, ok := errors.AsType[*limitError](cause); ok {
		return results.Failf(limit.class, "%s", limit.words)
	}
	return results.Failf(results.FailCanceled, "ended by bench: %v", cause)
}

// plain words for the bare errors of a closed connection, the same over both
// transports.
func plain(err error) string {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the server closed it in the middle of the answer (unexpected EOF)"
	case errors.Is(err, io.EOF):
		return "the server closed it (EOF)"
	}
	return strings.TrimPrefix(err.Error(), "net/http: HTTP/1.x transport connection broken: ")
}

// tlsHint says so if an https URL leads to a server of plain HTTP.
func tlsHint(err error) string {
	if record, ok := errors.AsType[tls.RecordHeaderError](err); ok && string(record.RecordHeader[:]) == "HTTP/" {
		return " (the server speaks plain HTTP: use http://)"
	}
	return ""
}

func reuseHint(reused bool) string {
	if !reused {
		return ""
	}
	return "; it had been used before, so the server may have closed it as idle"
}

// Refuses reports whether a failure says that the server refuses every request of
// this kind, whatever its prompt: a wrong key, path or method, or a model that it
// does not serve.
func Refuses(f *results.Failure, model string) bool {
	if f == nil {
		return false
	}
	switch f.HTTPStatus {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusGone, http.StatusNotImplemented:
		return true
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return saysUnknownModel(f.Message, model)
	}
	return f.Class == results.FailInBand && saysUnknownModel(f.Message, model)
}

// TooLong reports whether a failure says that this prompt, with its answer, is
// longer than the server takes: nothing about the other prompts.
func TooLong(f *results.Failure) bool {
	if f == nil {
		return false
	}
	switch f.HTTPStatus {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
	default:
		return false
	}

	message := strings.ToLower(f.Message)
	for _, words := range []string{
		"context length", "context size", "context window", "exceed_context_size", // vLLM, SGLang, llama-server
		"max_model_len", "max_seq_len", "max_input_len", "maximum allowed length", // TensorRT-LLM, SGLang
		"must have less than", "max_new_tokens` must be", // TGI
	} {
		if strings.Contains(message, words) {
			return true
		}
	}

	return false
}

// saysUnknownModel reports whether an error names the model and says that there
// is not of that name.
func saysUnknownModel(message, model string) bool {
	message = strings.ToLower(message)
	if strings.Contains(message, "model_not_found") {
		return true
	}
	if model == "" || !strings.Contains(message, strings.ToLower(model)) {
		return false
	}
	for _, words := range []string{
		"does not exist", "doesn't exist", "not found", "no such model", "unknown model", "invalid model", "not served",
		"not available", "is not loaded",
	} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}

// accepts reports whether an answer is of the form asked for.
func accepts(rep *wire.Reply, want form) bool {
	got := answerForm(rep)
	return succeeded(rep) && (got == want || got == formUnknown)
}

// succeeded reports whether the status says that an answer follows.
func succeeded(rep *wire.Reply) bool {
	return rep.Status >= 200 && rep.Status <= 299 && rep.Status != http.StatusNoContent &&
		rep.Status != http.StatusResetContent
}

func answerForm(rep *wire.Reply) form {
	media, _, _ := strings.Cut(strings.ToLower(rep.Header.Get("Content-Type")), ";")
	return formOf(strings.TrimSpace(media))
}

// compressed describes an answer that is compressed, nil if it is not.
func compressed(rep *wire.Reply) *results.Failure {
	encoding := rep.Header.Get("Content-Encoding")
	if encoding == "" || strings.EqualFold(encoding, "identity") {
		return nil
	}
	return results.Failf(results.FailProtocol,
		"the answer is compressed (Content-Encoding %q) although bench did not ask for it: its times would be wrong",
		encoding)
}

// refused describes an answer that is not accepted, whose body begins with
// body.
func refused(rep *wire.Reply, body []byte, want form) *results.Failure {
	if !succeeded(rep) {
		return badStatus(rep, body)
	}
	if f := compressed(rep); f != nil {
		return f
	}
	got := answerForm(rep)
	if got == formWhole {
		return notStreamed(rep, body)
	}
	return results.Failf(results.FailProtocol, "the answer is %s, not %s; check the request path. It begins %q", got,
		want, event.Cut(string(body), 200))
}

// form is how an answer is laid out.
type form string

const (
	formEvents  form = "an event stream"
	formLines   form = "a stream of JSON lines"
	formWhole   form = "one JSON value"
	formHTML    form = "HTML"
	formUnknown form = ""
)

// formOf finds the form by the media type. Many servers leave it out or
// name a wrong one, so that only types that are surely another form count.
func formOf(media string) form {
	switch {
	case media == "text/event-stream":
		return formEvents
	case strings.HasSuffix(media, "ndjson"), strings.HasSuffix(media, "jsonl"):
		return formLines
	case media == "application/json":
		return formWhole
	case media == "text/html", media == "application/xhtml+xml":
		return formHTML
	}
	return formUnknown
}

// retryAfterShown is how many bytes of a Retry-After are shown: a date has 29.
const retryAfterShown = 40

func badStatus(rep *wire.Reply, body []byte) *results.Failure {
	class := results.FailHTTP
	if rep.Status == http.StatusUnauthorized || rep.Status == http.StatusForbidden {
		class = results.FailAuth
	}
	words := strings.TrimSpace(fmt.Sprintf("%d %s", rep.Status, http.StatusText(rep.Status)))
	if to := rep.Header.Get("Location"); to != "" {
		words += " to " + to + " (redirects are not followed)"
	}
	if after := rep.Header.Get("Retry-After"); after != "" {
		words += " (Retry-After: " + event.Cut(after, retryAfterShown) + ")"
	}
	if said := event.BodyMessage(body, wordsKept); said != "" {
		words += ": " + said
	}
	return &results.Failure{Class: class, Message: words, HTTPStatus: rep.Status}
}

// notStreamed describes a plain JSON answer with status 200.
func notStreamed(rep *wire.Reply, body []byte) *results.Failure {
	if fault := event.FaultIn(body); fault != nil {
		return results.Failf(results.FailInBand, "%s (in a JSON answer with status %d)",
			event.FaultMessage(fault, wordsKept), rep.Status)
	}
	return results.Failf(results.FailProtocol, "answered without streaming: the server ignored \"stream\": true; "+
		"it sent JSON beginning %q", event.Cut(string(body), 200))
}
