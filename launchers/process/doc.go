// Package process owns the process trees that bench starts: it spawns a
// program in its own session, knows at any time which processes belong to it,
// and ends them all.
//
// What goes in: argv, environment and a log file. What comes out: a Process
// and, after Stop, a results.Proof. It needs Linux's /proc, runs no shell,
// never matches a process by name, and never signals a process that it cannot
// show to descend from one it started.
package process
