// Package machine is this machine as a command of bench sees it: the GPUs it
// finds, what reads them, what checks may ask of them, and the folder in which
// bench remembers runs.
//
// What the process was given goes in (variables, the program's own path); the
// machine's description, its telemetry and its register come out. It changes
// nothing but that folder.
package machine
