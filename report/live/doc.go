// Package live shows a run while it is carried out: the matrix of its steps,
// what is done just now, GPUs and the server's log, on a terminal or as lines.
//
// What goes in: a run folder, with what the process that carries it out says
// in live.json; keys. What comes out: a View, frames, lines; wishes of the user
// (skip, stop), which somebody else carries out. It measures nothing, writes
// nothing, and says of what is not known that it is not known.
package live
