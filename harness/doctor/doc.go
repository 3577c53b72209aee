// Package doctor judges whether a machine is ready for a night of measuring.
//
// What goes in: a View, all that was found out about the machine and about what a
// scenario needs. What comes out: Findings, each with what to do about it. It
// looks at nothing itself and changes nothing.
package doctor
