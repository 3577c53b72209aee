package fakeengine

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Fault is what goes wrong with requests number From to To.
type Fault struct {
	Kind     FaultKind
	From, To int // from 1; To 0: all that follow
}

// FaultKind names a way to answer a request badly.
type FaultKind string

// The ways. Those that break a stream do so in its middle.
const (
	FaultKill     FaultKind = "kill"     // the engine kills itself with SIGKILL
	FaultExit     FaultKind = "exit"     // the engine exits with code 0
	FaultHang     FaultKind = "hang"     // no answer, for ever
	FaultStall    FaultKind = "stall"    // the stream stops without an end
	FaultInBand   FaultKind = "in-band"  // an error object within the stream
	FaultTruncate FaultKind = "truncate" // the stream ends without a finish reason
	FaultReset    FaultKind = "reset"    // the connection is reset
	FaultGarbage  FaultKind = "garbage"  // bytes that are not an event stream
	FaultHTML     FaultKind = "html"     // a page with status 200
	FaultBusy     FaultKind = "busy"     // status 503
	FaultRate     FaultKind = "rate"     // status 429
	FaultInternal FaultKind = "internal" // status 500
	FaultEndless  FaultKind = "endless"  // a stream that never ends, as fast as it is taken
	FaultHuge     FaultKind = "huge"     // one line of 64 MiB
	FaultEmpty    FaultKind = "empty"    // a stream without tokens
	FaultShort    FaultKind = "short"    // half of the tokens asked for
	FaultHeader   FaultKind = "header"   // a status line, and then no more of the header
	FaultSlow     FaultKind = "slow"     // 200 ms a token
	FaultDrip     FaultKind = "drip"     // a sound stream, byte by byte
	FaultComments FaultKind = "comments" // comments for ever, and no token
	FaultDribble  FaultKind = "dribble"  // a header that never ends, a byte every 50 ms
	FaultWorker   FaultKind = "worker"   // a worker fills workerMemory; once it has ended, the engine says so and exits
)

func (c Config) fault(number int) FaultKind {
	for _, f := range c.Request {
		if number >= f.From && (f.To == 0 || number <= f.To) {
			return f.Kind
		}
	}
	return ""
}

// misbehave answers a request as a fault says.
func (e *engine) misbehave(w http.ResponseWriter, r *http.Request, kind FaultKind, tokens int) {
	switch kind {
	case FaultKill:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case FaultExit:
		os.Exit(0)
	case FaultHang:
		<-r.Context().Done()
	case FaultBusy, FaultRate, FaultInternal:
		status := map[FaultKind]int{
			FaultBusy: http.StatusServiceUnavailable, FaultRate: http.StatusTooManyRequests,
			FaultInternal: http.StatusInternalServerError,
		}[kind]
		fail(w, status, "as asked", "fault")
	case FaultHTML:
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html><body>It works!</body></html>")
	case FaultEmpty:
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: [DONE]\n\n")
	case FaultShort:
		e.stream(w, r, max(tokens/2, 1), e.config.Chunk)
	case FaultSlow:
		const slow = 200 * time.Millisecond
		e.stream(w, r, tokens, slow)
	case FaultDrip:
		e.stream(drip{w}, r, tokens, e.config.Chunk)
	case FaultComments:
		comment(w, r)
	case FaultDribble:
		dribble(w, r)
	case FaultWorker:
		loseWorker()
	default:
		e.breakStream(w, r, kind)
	}
}

// workerMemory is more than the limit that a test sets, in bytes.
const workerMemory = 512 << 20

// loseWorker plays an engine whose worker is killed for lack of memory: of the
// cause it knows nothing.
func loseWorker() {
	_ = startChild(Child{Eat: workerMemory}) // it ends
	time.Sleep(time.Second)                  // an engine looks after its workers now and then
	fmt.Fprintln(os.Stderr,
		"ERROR 11-28 15:13:46 [multiproc_executor.py:200] Worker proc VllmWorker-1 died unexpectedly, shutting down "+
			"executor.")
	os.Exit(1)
}

// drip sends every byte in a packet of its own.
type drip struct{ http.ResponseWriter }

func (d drip) Write(p []byte) (int, error) {
	control := http.NewResponseController(d.ResponseWriter)
	for i := range p {
		if _, err := d.ResponseWriter.Write(p[i : i+1]); err != nil {
			return i, err
		}
		if err := control.Flush(); err != nil {
			return i, err
		}
	}
	return len(p), nil
}

// Unwrap is for http.ResponseController.
func (d drip) Unwrap() http.ResponseWriter { return d.ResponseWriter }

const dripPause = 50 * time.Millisecond

// comment keeps a stream open as proxies do, without a token.
func comment(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for r.Context().Err() == nil {
		fmt.Fprint(w, ": keep-alive\n\n")
		_ = http.NewResponseController(w).Flush()
		time.Sleep(dripPause)
	}
}

// dribble sends a header line without an end.
func dribble(w http.ResponseWriter, _ *http.Request) {
	conn := hijack(w)
	if conn == nil {
		return
	}
	defer conn.Close()
	_, err := fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nX-Filler: ")
	for err == nil {
		_, err = conn.Write([]byte{'x'})
		time.Sleep(dripPause)
	}
}

// breakStream begins an answer and spoils it.
func (e *engine) breakStream(w http.ResponseWriter, r *http.Request, kind FaultKind) {
	if kind == FaultHeader {
		if conn := hijack(w); conn != nil {
			fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-st")
			<-r.Context().Done()
			_ = conn.Close()
		}
		return
	}

	w.Header().Set("Content-Type", "text/event-stream")
	for range 3 {
		e.outputs.Add(1)
		event(w, word())
	}

	switch kind {
	case FaultStall:
		<-r.Context().Done()
	case FaultInBand:
		event(w, map[string]any{"error": map[string]any{
			"message": "EngineCore encountered an issue",
			"type":    "InternalServerError", "code": 500,
		}})
	case FaultReset:
		if conn, ok := hijack(w).(*net.TCPConn); ok {
			_ = conn.SetLinger(0)
			_ = conn.Close()
		}
	case FaultGarbage:
		_, _ = w.Write(bytes.Repeat([]byte{0, 0xff, '\n', '{', '"', 0x80, ':'}, 1000))
	case FaultEndless:
		for r.Context().Err() == nil {
			event(w, word())
		}
	case FaultHuge:
		fmt.Fprint(w, "data: ")
		_, _ = w.Write(bytes.Repeat([]byte{'x'}, 64<<20))
	case FaultTruncate:
	default:
	}
}

func word() map[string]any {
	return map[string]any{"choices": []any{map[string]any{"index": 0, "text": " word"}}}
}

func hijack(w http.ResponseWriter) net.Conn {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil
	}
	return conn
}

// flood writes n bytes of log.
func flood(n int) {
	line := bytes.Repeat([]byte("INFO a line that says nothing at all, again and again 0123456789\n"), 1000)
	for ; n > 0; n -= len(line) {
		_, _ = os.Stderr.Write(line[:min(n, len(line))])
	}
}

// passListenerOn gives the listening socket to a child in a session of its own.
func passListenerOn(listener net.Listener) error {
	file, err := listener.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	defer file.Close()
	program, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(context.Background(), program, childArgument, `{"Session":true,"IgnoreTerm":true}`)
	cmd.ExtraFiles = []*os.File{file}
	cmd.Env = withoutEngine(os.Environ())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}
