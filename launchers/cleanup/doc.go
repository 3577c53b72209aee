// Package cleanup finds and ends what servers of an earlier run have left on this
// machine.
//
// What goes in: the events of a run's journal, or a cookie. What comes out: the
// open server starts, what is left of each, and after End a results.Proof. What
// cannot be shown to be ours is left alone.
package cleanup
