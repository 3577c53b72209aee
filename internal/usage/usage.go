// Package usage marks errors that the user can mend by writing something else:
// a flag, a scenario, a file name.
//
// What goes in: an error. What comes out: the same error with the mark, which
// cmd/bench turns into an exit code. It never decides which errors these are.
package usage

import (
	"errors"
	"fmt"
)

// Error is a mistake in what the user wrote.
type Error struct{ Err error }

func (e Error) Error() string { return e.Err.Error() }

func (e Error) Unwrap() error { return e.Err }

// Mark marks err, which is not nil.
func Mark(err error) error { return Error{err} }

// Errorf is fmt.Errorf, marked.
func Errorf(format string, args ...any) error { return Error{fmt.Errorf(format, args...)} }

// Is reports whether err is a mistake in what the user wrote.
func Is(err error) bool {
	_, ok := errors.AsType[Error](err)
	return ok
}
