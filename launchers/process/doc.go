// Package process owns the process trees that bench starts: it spawns a
// program in its own session and control group, knows at any time which
// processes belong to it, and ends them all; also those that an earlier bench
// started and noted.
//
// What goes in: argv, environment and a log file, or what was noted. What
// comes out: a Process or its Remains and, after Stop, a results.Proof. It needs Linux's /proc, runs no shell,
// never matches a process by name, and never signals a process that it cannot
// show to descend from one it started.
package process
