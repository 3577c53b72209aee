// Package state is what bench remembers of a machine between runs: who works on it
// now, and which run folders may have left servers behind.
//
// What goes in: a folder of the user, run folders. What comes out: the right to
// work on the machine, and the list of runs to look at after a crash, with notes of
// what each started and changed. It starts and ends nothing, and reads no run
// folder.
package state
