// Package shm removes what servers leave in shared memory (/dev/shm).
//
// What goes in: the pids of servers' processes while they live, and when their
// servers start and end. What comes out: device and inode of the files that they
// had open or mapped, for the journal, and what was removed or left, and why. A
// file is never judged by its name, its age or its path. One that was there
// before, that somebody else used as well, or whose users cannot all be seen, is
// left alone.
package shm
