package simengine

import (
	"sync"
	"time"
)

// Finish says why a request ended, in the words of the API.
type Finish string

// FinishNone means that the request continues; the others say why it ended.
const (
	FinishNone     Finish = ""
	FinishLength   Finish = "length"
	finishStop     Finish = "stop"
	FinishAbort    Finish = "abort"
	FinishError    Finish = "error"
	FinishTruncate Finish = "truncate" // a fault: the connection is cut
)

// Sequence is one request inside the engine. All fields but out belong to the
// engine's lock.
type Sequence struct {
	Key    uint64 // decides content and length of the answer
	Salt   uint64 // separates prefix caches
	Prompt []int32
	Says   []int32 // the answer's tokens, where they are given
	Wrong  bool    // a fault: the answer's content is another one from its fourth token on
	Spoken []int32 // tokens that answers are made of
	Answer int     // length of the whole answer, tokens
	Stops  bool    // its last token is an end token
	Target int     // output tokens after which it ends: answer, or never after a fault
	Output int     // tokens produced
	Fault  FaultKind
	// lower values are admitted first; all are 0 unless the policy is PolicyPriority
	Priority int
	Arrival  time.Time

	computed int // tokens whose KV is in blocks
	blocks   []int32
	hashes   []uint64 // of full blocks, as far as asked for
	shared   int      // leading blocks already offered to the prefix cache
	cached   int      // prompt tokens found in the prefix cache at first admission
	admitted bool
	stalled  bool
	done     bool
	First    time.Time
	Last     time.Time
	started  time.Time // first scheduled

	Out *stream
}

// total is the number of tokens known: prompt and output.
func (s *Sequence) total() int { return len(s.Prompt) + s.Output }

// token returns the i-th of all tokens.
func (s *Sequence) token(i int) int32 {
	if i < len(s.Prompt) {
		return s.Prompt[i]
	}
	return s.OutputToken(i - len(s.Prompt))
}

// OutputToken is the i-th token of the answer. It reads only fields that never
// change, so that handlers may call it while the engine runs.
func (s *Sequence) OutputToken(i int) int32 {
	if s.Stops && i == s.Answer-1 {
		return tokenEOS
	}
	if i < len(s.Says) && !s.Wrong {
		return s.Says[i]
	}
	key := s.Key
	if s.Wrong && i >= faultAfterTokens {
		key++
	}
	return s.Spoken[Mix(key, uint64(i))%uint64(len(s.Spoken))]
}

// AnswerAtOnce gives the whole answer without the engine.
func (s *Sequence) AnswerAtOnce(now time.Time) {
	e := Event{N: s.Answer, Finish: FinishLength, At: now}
	if s.Stops {
		e.Finish = finishStop
	}
	s.Out.push(e)
}

// blockHashes returns the hashes of the first n full blocks.
func (s *Sequence) blockHashes(n, size int) []uint64 {
	for len(s.hashes) < n {
		i := len(s.hashes)
		h := s.Salt
		if i > 0 {
			h = s.hashes[i-1]
		}
		for j := i * size; j < (i+1)*size; j++ {
			h = Mix(h, uint64(s.token(j))+1)
		}
		s.hashes = append(s.hashes, max(h, 1))
	}
	return s.hashes[:n]
}

// Event is what one step gave to one request.
type Event struct {
	From   int // index of the first new output token
	N      int
	Finish Finish
	At     time.Time // the end of the step
}

// stream carries events from the engine to the request's handler. The engine
// never waits for it.
type stream struct {
	Ready chan struct{} // holds at most one signal

	mu     sync.Mutex // guards the fields below
	events []Event
	cached int
}

// NewStream makes a stream without events.
func NewStream() *stream { return &stream{Ready: make(chan struct{}, 1)} }

func (s *stream) push(e Event) {
	s.mu.Lock()
	s.events = append(s.events, e)
	s.mu.Unlock()
	select {
	case s.Ready <- struct{}{}:
	default:
	}
}

// Take moves the waiting events to the end of into.
func (s *stream) Take(into []Event) []Event {
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

// CachedTokens is the number of prompt tokens that came from the prefix cache.
func (s *stream) CachedTokens() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cached
}
