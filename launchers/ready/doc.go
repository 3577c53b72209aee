// Package ready waits until a server truly serves: it climbs a ladder of
// checks, the last of which is a token, and says where a start got stuck.
//
// What goes in: checks (Stage) in their order, and limits. What comes out: nil
// once all checks have passed, else a *results.Failure that names the check and
// the last answer. It starts and stops nothing.
package ready
