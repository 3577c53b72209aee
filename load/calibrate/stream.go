package calibrate

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// pace is how a feeder answers. It travels in the request's path, so that one
// feeder serves every measurement.
type pace struct {
	ttft, gap time.Duration // gap 0: as fast as the socket takes it
	tokens    int
}

// path is the base path that asks a feeder for the pace.
func (p pace) path() string {
	return fmt.Sprintf("/%d/%d/%d", p.ttft.Nanoseconds(), p.gap.Nanoseconds(), p.tokens)
}

func parsePace(target string) (pace, error) {
	var ttft, gap int64
	var p pace
	if _, err := fmt.Sscanf(target, "/%d/%d/%d", &ttft, &gap, &p.tokens); err != nil {
		return pace{}, fmt.Errorf("parse path %q: %w", target, err)
	}
	p.ttft, p.gap = time.Duration(ttft), time.Duration(gap)
	if ttft < 0 || gap < 0 || p.tokens < 1 || p.tokens > 1<<20 {
		return pace{}, fmt.Errorf("parse path %q: out of range", target)
	}
	return p, nil
}

// timeDigits is the width of the time that each event carries as its text.
const timeDigits = 16

const (
	eventHead = `data: {"id":"cmpl-7e8a9d6b4c3f4b0f9d1c2a3b4c5d6e7f","object":"text_completion","created":1795815459,"model":"meta-llama/Llama-3.1-70B-Instruct","choices":[{"index":0,"text":"`
	eventTail = `","logprobs":null,"finish_reason":null,"stop_reason":null}],"usage":null}` + "\n\n"
	chatHead  = `data: {"id":"chatcmpl-7e8a9d6b4c3f4b0f9d1c2a3b4c5d6e7f","object":"chat.completion.chunk","created":1795815459,"model":"meta-llama/Llama-3.1-70B-Instruct","choices":[{"index":0,"delta":{"content":"`
	chatTail  = `"},"logprobs":null,"finish_reason":null}],"usage":null}` + "\n\n"
	answerEnd = "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
	answerTop = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: " +
		"chunked\r\n\r\n"
)

// unpacedWrite is how many bytes an unpaced stream writes at once.
const unpacedWrite = 16 << 10

// stream is one connection of a feeder.
type stream struct {
	fd      int
	in      []byte // request bytes so far
	pace    pace
	sent    int // tokens
	due     int64
	place   int // in the queue; -1: not queued
	out     []byte
	blocked bool   // waits for room in the socket
	target  string // of the request
	chat    bool   // it asks for a chat's answer
	usage   bool   // it asks for a finish reason and the usage
	record  *served
	secure  *secure // nil: in the clear
}

var errRequest = errors.New("parse request: not one that a calibration sends")

// request takes in bytes of a request and reports whether it is whole.
func (s *stream) request(b []byte) (bool, error) {
	s.in = append(s.in, b...)
	head, body, ok := bytes.Cut(s.in, []byte("\r\n\r\n"))
	if !ok {
		if len(s.in) > 64<<10 {
			return false, errRequest
		}
		return false, nil
	}

	fields := bytes.Fields(head)
	length, ok := contentLength(head)
	if !ok || len(fields) < 2 || string(fields[0]) != "GET" && string(fields[0]) != "POST" {
		return false, errRequest
	}
	if len(body) < length {
		return false, nil
	}

	s.target = string(fields[1])
	s.chat = strings.HasSuffix(s.target, "/chat/completions")
	s.usage = bytes.Contains(body[:length], []byte(`"include_usage"`))
	s.in = s.in[:0]
	return true, nil
}

// contentLength is how long the body is that follows a head. A request without it has
// none; one in chunks is not understood.
func contentLength(head []byte) (int, bool) {
	_, fields, _ := bytes.Cut(head, []byte("\r\n"))
	for line := range bytes.SplitSeq(fields, []byte("\r\n")) {
		name, value, _ := bytes.Cut(line, []byte{':'})
		switch strings.ToLower(string(name)) {
		case "content-length":
			n, err := strconv.Atoi(string(bytes.TrimSpace(value)))
			return n, err == nil && n >= 0 && n <= 16<<20
		case "transfer-encoding":
			return 0, false
		}
	}
	return 0, true
}

// answer sends a whole answer at once.
func (s *stream) answer(b []byte) bool {
	if s.secure != nil {
		var err error
		if b, err = s.secure.seal(b); err != nil {
			return false
		}
	}
	return s.send(b)
}

// send writes what the socket has room for in any case.
func (s *stream) send(b []byte) bool {
	n, err := unix.Write(s.fd, b)
	return err == nil && n == len(b)
}

func (s *stream) begin(now int64) {
	s.sent, s.out = 0, append(s.out[:0], answerTop...)
	s.due = now + int64(s.pace.ttft)
}

// writeState is how a write ended.
type writeState int

const (
	writeMore   writeState = iota // another token is to come at s.due
	writeFull                     // the socket takes no more now
	writeDone                     // the answer is out
	writeBroken                   // the connection is over
)

// write sends what is due: one token, or for an unpaced stream as many as one
// write holds. The bytes of a token are made just before they are sent, since
// they carry the time.
func (s *stream) write() writeState {
	if !s.blocked && !s.fill() {
		return writeBroken
	}

	n, err := unix.Write(s.fd, s.out)
	switch {
	case errors.Is(err, unix.EAGAIN):
		return writeFull
	case err != nil:
		return writeBroken
	}

	s.out = append(s.out[:0], s.out[n:]...)
	switch {
	case len(s.out) > 0:
		return writeFull
	case s.sent == s.pace.tokens:
		return writeDone
	}

	s.due += int64(s.pace.gap)
	return writeMore
}

// fill makes the bytes that are due. It reports false where they cannot be encrypted.
func (s *stream) fill() bool {
	for s.sent < s.pace.tokens {
		now := monotonic()
		s.out = s.event(now)
		s.record.writes = append(s.record.writes, now)
		s.sent++
		if s.pace.gap > 0 || len(s.out) >= unpacedWrite {
			break
		}
	}
	if s.sent == s.pace.tokens {
		s.out = s.ending()
	}
	if s.secure == nil {
		return true
	}

	sealed, err := s.secure.seal(s.out)
	s.out = append(s.out[:0], sealed...)
	return err == nil
}

// event is the output with the chunk of one token more.
func (s *stream) event(at int64) []byte {
	if s.chat {
		return appendToken(s.out, chatHead, chatTail, at)
	}
	return appendEvent(s.out, at)
}

// ending is the output with what ends an answer, and for clients that ask for it the
// finish reason and the usage before that.
func (s *stream) ending() []byte {
	if s.usage {
		choice := `"text":""`
		if s.chat {
			choice = `"delta":{}`
		}
		last := fmt.Sprintf(
			`data: {"id":"cmpl-7e8a9d6b","object":"chunk","created":1795815459,"model":"calibrate","choices":[`+
				`{"index":0,%s,"finish_reason":"length"}]}`+"\n\n"+
				`data: {"id":"cmpl-7e8a9d6b","object":"chunk","created":1795815459,"model":"calibrate","choices":[],`+
				`"usage":{"prompt_tokens":8,"completion_tokens":%d,"total_tokens":%d}}`+"\n\n",
			choice,
			s.pace.tokens,
			s.pace.tokens+8,
		)
		s.out = fmt.Appendf(s.out, "%x\r\n%s\r\n", len(last), last)
	}
	return append(s.out, answerEnd...)
}

// appendEvent adds the chunk of one token whose text is the time.
func appendEvent(b []byte, at int64) []byte { return appendToken(b, eventHead, eventTail, at) }

func appendToken(b []byte, head, tail string, at int64) []byte {
	b = strconv.AppendInt(b, int64(len(head)+timeDigits+len(tail)), 16)
	b = append(append(b, "\r\n"...), head...)
	start := len(b)
	b = append(b, "0000000000000000"...)
	for i := start + timeDigits - 1; i >= start && at > 0; i-- {
		b[i] = byte('0' + at%10)
		at /= 10
	}
	return append(append(b, tail...), "\r\n"...)
}

func (s *stream) block(f *feeder) {
	if !s.blocked {
		s.blocked = f.watch(unix.EPOLL_CTL_MOD, s.fd, unix.EPOLLIN|unix.EPOLLOUT) == nil
	}
}

func (s *stream) unblock(f *feeder) {
	if s.blocked {
		s.blocked = f.watch(unix.EPOLL_CTL_MOD, s.fd, unix.EPOLLIN) != nil
	}
}

// dueQueue is a heap of streams by the time of their next token.
type dueQueue []*stream

func (q *dueQueue) push(s *stream) {
	s.place = len(*q)
	*q = append(*q, s)
	q.up(s.place)
}

func (q *dueQueue) remove(s *stream) {
	if s.place < 0 {
		return
	}
	i, end := s.place, len(*q)-1
	q.swap(i, end)
	*q = (*q)[:end]
	if i < end {
		q.down(i)
		q.up(i)
	}
	s.place = -1
}

func (q *dueQueue) swap(i, j int) {
	h := *q
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

func (q *dueQueue) up(i int) {
	for h := *q; i > 0 && h[i].due < h[(i-1)/2].due; i = (i - 1) / 2 {
		q.swap(i, (i-1)/2)
	}
}

func (q *dueQueue) down(i int) {
	h := *q
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(h); c++ {
			if h[c].due < h[least].due {
				least = c
			}
		}
		if least == i {
			return
		}
		q.swap(i, least)
		i = least
	}
}
