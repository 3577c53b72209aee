package main

import "syscall"

// limits are those of this process that bound how many connections it can
// hold, and its servers, which inherit them. The soft one is as bench raised it.
func limits() map[string]uint64 { return limitsBy(syscall.Getrlimit) }

// limitsBy asks get, which is getrlimit; nil where that does not say.
func limitsBy(get func(resource int, limit *syscall.Rlimit) error) map[string]uint64 {
	var files syscall.Rlimit
	if get(syscall.RLIMIT_NOFILE, &files) != nil {
		return nil
	}
	return map[string]uint64{"open_files_soft": files.Cur, "open_files_hard": files.Max}
}
