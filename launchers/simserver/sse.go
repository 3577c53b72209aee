package simserver

import (
	"net/http"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// chunkWriter renders one step's event of one request; false when the client
// has left.
type chunkWriter interface {
	write(out *eventWriter, e simengine.Event) bool
}

// eventWriter writes server-sent events, each with one write.
type eventWriter struct {
	w     http.ResponseWriter
	flush func()
	buf   []byte
	begun bool
}

func newEventWriter(w http.ResponseWriter) *eventWriter {
	flush := func() {}
	if f, ok := w.(http.Flusher); ok {
		flush = f.Flush
	}
	return &eventWriter{w: w, flush: flush, buf: make([]byte, 0, 512)}
}

func (o *eventWriter) headers() {
	if o.begun {
		return
	}
	o.begun = true
	h := o.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	o.w.WriteHeader(http.StatusOK)
}

// start sends the headers now.
func (o *eventWriter) start() {
	o.headers()
	o.flush()
}

// send writes what is in buf and empties it.
func (o *eventWriter) send() bool {
	o.headers()
	_, err := o.w.Write(o.buf)
	o.flush()
	o.buf = o.buf[:0]
	return err == nil
}

// event begins an event that has a type.
func (o *eventWriter) event(kind string) {
	o.buf = append(o.buf, "event: "...)
	o.buf = append(o.buf, kind...)
	o.buf = append(o.buf, "\ndata: "...)
}

// typed writes one event of a type.
func (o *eventWriter) typed(kind string, payload any) bool {
	o.event(kind)
	o.buf = append(o.buf, mustJSON(payload)...)
	o.buf = append(o.buf, "\n\n"...)
	return o.send()
}

// sendData writes one event with the given payload.
func (o *eventWriter) sendData(payload []byte) bool {
	o.buf = append(o.buf, "data: "...)
	o.buf = append(o.buf, payload...)
	o.buf = append(o.buf, "\n\n"...)
	return o.send()
}

func (o *eventWriter) done() bool { return o.sendData([]byte("[DONE]")) }
