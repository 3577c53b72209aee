// Package proc reads what the kernel shows under /proc: processes, sockets,
// mounts, the processor. It is the only package that parses these files.
//
// What goes in: pids, ports, inodes. What comes out: values, or that they cannot
// be seen. It changes nothing, signals nobody, and decides nothing about whose a
// process is.
package proc
