package moments

import (
	"bytes"
	"strconv"
)

// scan reads JSON without white space, as package json writes it, from the
// front of rest. Its methods report whether the value was of the kind asked
// for, and simple enough; if not, rest is in no defined state.
type scan struct{ rest []byte }

func (s *scan) take(c byte) bool {
	if len(s.rest) == 0 || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

func (s *scan) null() bool {
	if !bytes.HasPrefix(s.rest, []byte("null")) {
		return false
	}
	s.rest = s.rest[len("null"):]
	return true
}

// plainString is a string of printable ASCII without escapes.
func (s *scan) plainString() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	for i, c := range s.rest {
		switch {
		case c == '"':
			text := s.rest[:i]
			s.rest = s.rest[i+1:]
			return text, true
		case c == '\\' || c < ' ' || c > '~':
			return nil, false
		}
	}
	return nil, false
}

func (s *scan) integer(into *int) bool {
	const most = 18 // digits that fit
	n, i, negative := 0, 0, s.take('-')
	for ; i < len(s.rest) && isDigit(s.rest[i]); i++ {
		n = n*10 + int(s.rest[i]-'0')
	}
	if i == 0 || i > most || i > 1 && s.rest[0] == '0' || i < len(s.rest) &&
		(s.rest[i] == '.' || s.rest[i]|' ' == 'e') {
		return false
	}
	if negative {
		n = -n
	}
	*into, s.rest = n, s.rest[i:]
	return true
}

func (s *scan) integerOrNull(into **int, memory *int) bool {
	if s.null() {
		return true
	}
	*into = memory
	return s.integer(memory)
}

func (s *scan) numberOrNull(into **float64, memory *float64) bool {
	if s.null() {
		return true
	}
	*into = memory
	return s.number(memory)
}

// number reads digits with an optional fraction. A whole number below 2^53
// divided by a power of ten up to 22 is rounded once, so the value is the one
// that strconv would give; all others are left to it.
func (s *scan) number(into *float64) bool {
	const exact = 15 // digits that are surely below 2^53
	start, negative := s.rest, s.take('-')
	whole, digits, point, i := uint64(0), 0, -1, 0
	for ; i < len(s.rest); i++ {
		c := s.rest[i]
		if c == '.' && point < 0 && i > 0 {
			point = i
			continue
		}
		if !isDigit(c) {
			break
		}
		if digits++; digits <= exact {
			whole = whole*10 + uint64(c-'0')
		}
	}

	rest := s.rest[i:]
	if i == 0 || point == i-1 || i > 1 && s.rest[0] == '0' && point != 1 || len(rest) > 0 && rest[0]|' ' == 'e' {
		return false
	}

	v := float64(whole)
	switch {
	case digits > exact:
		var err error
		if v, err = strconv.ParseFloat(string(start[:len(start)-len(rest)]), 64); err != nil {
			return false
		}
		negative = false
	case point >= 0:
		v /= powersOfTen(i - 1 - point)
	}

	if negative {
		v = -v
	}

	*into, s.rest = v, rest
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// powersOfTen is 10^n for n of at most 15.
func powersOfTen(n int) float64 {
	return [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}[n]
}
