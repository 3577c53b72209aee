package record

import "strconv"

// maxPrompts bounds what is remembered to find which prompt a later one continues
// from: the oldest are forgotten.
const maxPrompts = 1 << 20

// sessionFinder finds which session a prompt belongs to: that of the longest earlier
// list of messages that it begins with. A prompt that is one text is a session
// of its own: where an earlier one ended in it cannot be seen.
type sessionFinder struct {
	count int
	names map[string]string // of clients -> ours
	ends  map[uint64]string // hash of all messages of a prompt -> its session
	order []uint64          // of ends, oldest first
}

func newSessionFinder() *sessionFinder {
	return &sessionFinder{names: map[string]string{}, ends: map[uint64]string{}}
}

// named is the session that clients call name.
func (s *sessionFinder) named(name string) string {
	if s.names[name] == "" {
		s.names[name] = s.next()
	}
	return s.names[name]
}

func (s *sessionFinder) next() string {
	s.count++
	return strconv.Itoa(s.count)
}

// of finds the session of a prompt, or begins one.
func (s *sessionFinder) of(p prompt) string {
	session := ""
	for i := len(p.pieces) - 2; i >= 0 && session == ""; i-- {
		session = s.ends[p.pieces[i]]
	}
	if session == "" {
		session = s.next()
	}

	end := p.pieces[len(p.pieces)-1]
	if _, known := s.ends[end]; !known {
		s.order = append(s.order, end)
	}
	s.ends[end] = session
	if len(s.order) > maxPrompts {
		delete(s.ends, s.order[0])
		s.order = s.order[1:]
	}

	return session
}
