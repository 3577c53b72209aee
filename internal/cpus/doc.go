// Package cpus knows the CPUs of this machine and places threads on them.
//
// What goes in: lists of CPUs as Linux writes them, sysfs, /proc. What comes out:
// which CPUs this process may use and how they belong together, a choice of cores
// for the load client, and a thread that runs where it should. It moves no thread but
// the calling one.
package cpus
