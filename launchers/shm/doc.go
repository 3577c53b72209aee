// Package shm removes what servers leave in shared memory (/dev/shm).
//
// What goes in: when servers start and end. What comes out: the names of the
// files that were removed. It removes nothing that it cannot show to be a
// server's of ours.
package shm
