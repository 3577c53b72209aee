package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/benchrig/bench/internal/loadtest"
	"github.com/benchrig/bench/results"
)

// pipeServer serves requests over in-memory connections, so that tests run in
// fake time.
type pipeServer struct {
	answer answerFunc
	n      atomic.Int64
	wg     sync.WaitGroup // of the connections
	refuse bool
	// keepBody leaves each request's body to be read by answer.
	keepBody bool
}

func (s *pipeServer) dial(context.Context, string, string) (net.Conn, error) {
	if s.refuse {
		return nil, errors.New("connection refused")
	}
	client, server := net.Pipe()
	s.wg.Go(func() { s.serve(server) })
	return client, nil
}

func (s *pipeServer) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		if s.keepBody {
			req.Body = io.NopCloser(bytes.NewReader(body))
		}
		if !s.answer(conn, req, int(s.n.Add(1)-1)) {
			return
		}
	}
}

// script is an answer in timed pieces: each is written after its delay.
type script []struct {
	after time.Duration
	bytes string
}

func (sc script) play(w io.Writer) bool {
	for _, step := range sc {
		time.Sleep(step.after)
		if step.bytes == "" {
			continue
		}
		if _, err := io.WriteString(w, step.bytes); err != nil {
			return false
		}
	}
	return true
}

// steady answers with two tokens: the first after ttft, the end after rest.
func steady(ttft, rest time.Duration) answerFunc {
	return func(w io.Writer, _ *http.Request, _ int) bool {
		return script{{ttft, streamHeader + loadtest.Event(loadtest.Token)}, {rest, loadtest.Event(loadtest.Token) +
			loadtest.Event(loadtest.Last) + loadtest.Event("[DONE]") + loadtest.EndFrame}}.play(w)
	}
}

// runPipe drives prompts against s in fake time.
func runPipe(ctx context.Context, s *pipeServer, o Options, n int) ([]results.Record, results.ClientReport, error) {
	if o.Target.BaseURLs == nil {
		o.Target.BaseURLs = []string{"http://one"}
	}
	o.Target.Path, o.Target.API, o.Target.Model = "/v1/completions", "completions", "m"
	o.Transport = loadtest.Transport()
	records := make([]results.Record, 0, n)
	report, err := run(ctx, o, manyPrompts(n), func(r results.Record) error {
		records = append(records, r)
		return nil
	}, s.dial)
	return records, report, err
}
