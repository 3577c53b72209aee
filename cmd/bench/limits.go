package main

import "syscall"

// limits are those of this process that bound how many connections it can
// hold. The soft one is what Go's runtime has raised it to.
func limits() map[string]uint64 {
	var files syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files) != nil {
		return nil
	}
	return map[string]uint64{"open_files_soft": files.Cur, "open_files_hard": files.Max}
}
