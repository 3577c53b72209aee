package scenarios

import (
	"fmt"
	"time"
)

// Moment is when a run starts or ends: a time of the day, which comes around every
// day, or one of a certain day. The zero value means none.
type Moment struct {
	text  string
	at    time.Time // of a certain day
	daily bool      // the time of the day alone counts
}

// ParseMoment reads "22:00", "2026-11-29 07:30" (both by this machine's clock) or
// an RFC 3339 time.
func ParseMoment(text string) (Moment, error) {
	if at, err := time.ParseInLocation("15:04", text, time.Local); err == nil {
		return Moment{text, at, true}, nil
	}
	if at, err := time.ParseInLocation("2006-01-02 15:04", text, time.Local); err == nil {
		return Moment{text, at, false}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return Moment{text, at, false}, nil
	}
	return Moment{}, fmt.Errorf("%q is not a moment: want 22:00, \"2026-11-29 07:30\" or an RFC 3339 time", text)
}

// IsZero reports whether no moment is given.
func (m Moment) IsZero() bool { return m.text == "" }

// String is the moment as it was written.
func (m Moment) String() string { return m.text }

// From is the moment as seen from now: the next one of that time of the day, or
// that of its day, which may be over.
func (m Moment) From(now time.Time) time.Time {
	if !m.daily {
		return m.at
	}
	next := time.Date(now.Year(), now.Month(), now.Day(), m.at.Hour(), m.at.Minute(), 0, 0, now.Location())
	if !next.After(now) {
		next = time.Date(now.Year(), now.Month(), now.Day()+1, m.at.Hour(), m.at.Minute(), 0, 0, now.Location())
	}
	return next
}
