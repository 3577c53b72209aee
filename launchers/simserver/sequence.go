package simserver

import (
	"sync"
	"time"
)

// finish says why a request ended, in the words of the API.
type finish string

const (
	finishNone     finish = ""
	finishLength   finish = "length"
	finishStop     finish = "stop"
	finishAbort    finish = "abort"
	finishError    finish = "error"
	finishTruncate finish = "truncate" // a fault: the connection is cut
)

// sequence is one request inside the engine. All fields but out belong to the
// engine's lock.
type sequence struct {
	key     uint64 // decides content and length of the answer
	salt    uint64 // separates prefix caches
	prompt  []int32
	spoken  []int32 // tokens that answers are made of
	answer  int     // length of the whole answer, tokens
	stops   bool    // its last token is an end token
	target  int     // output tokens after which it ends: answer, or never after a fault
	output  int     // tokens produced
	fault   FaultKind
	arrival time.Time

	computed int // tokens whose KV is in blocks
	blocks   []int32
	hashes   []uint64 // of full blocks, as far as asked for
	shared   int      // leading blocks already offered to the prefix cache
	cached   int      // prompt tokens found in the prefix cache at first admission
	admitted bool
	stalled  bool
	done     bool
	first    time.Time
	last     time.Time
	started  time.Time // first scheduled

	out *stream
}

// total is the number of tokens known: prompt and output.
func (s *sequence) total() int { return len(s.prompt) + s.output }

// token returns the i-th of all tokens.
func (s *sequence) token(i int) int32 {
	if i < len(s.prompt) {
		return s.prompt[i]
	}
	return s.outputToken(i - len(s.prompt))
}

// outputToken is the i-th token of the answer. It reads only fields that never
// change, so that handlers may call it while the engine runs.
func (s *sequence) outputToken(i int) int32 {
	if s.stops && i == s.answer-1 {
		return tokenEOS
	}
	return s.spoken[mix(s.key, uint64(i))%uint64(len(s.spoken))]
}

// blockHashes returns the hashes of the first n full blocks.
func (s *sequence) blockHashes(n, size int) []uint64 {
	for len(s.hashes) < n {
		i := len(s.hashes)
		h := s.salt
		if i > 0 {
			h = s.hashes[i-1]
		}
		for j := i * size; j < (i+1)*size; j++ {
			h = mix(h, uint64(s.token(j))+1)
		}
		s.hashes = append(s.hashes, max(h, 1))
	}
	return s.hashes[:n]
}

// event is what one step gave to one request.
type event struct {
	from   int // index of the first new output token
	n      int
	finish finish
	at     time.Time // the end of the step
}

// stream carries events from the engine to the request's handler. The engine
// never waits for it.
type stream struct {
	ready chan struct{} // holds at most one signal

	mu     sync.Mutex // guards the fields below
	events []event
	cached int
}

func newStream() *stream { return &stream{ready: make(chan struct{}, 1)} }

func (s *stream) push(e event) {
	s.mu.Lock()
	s.events = append(s.events, e)
	s.mu.Unlock()
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// take moves the waiting events to the end of into.
func (s *stream) take(into []event) []event {
	s.mu.Lock()
	defer s.mu.Unlock()
	into = append(into, s.events...)
	s.events = s.events[:0]
	return into
}

func (s *stream) setCached(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cached = n
}

// cachedTokens is the number of prompt tokens that came from the prefix cache.
func (s *stream) cachedTokens() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cached
}
