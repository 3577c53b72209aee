package caches

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// residentPages counts the pages of a part of a file that are in memory.
func residentPages(f *os.File, at, length int64) (int64, error) {
	mapped, err := unix.Mmap(int(f.Fd()), at, int(length), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return 0, err
	}
	defer func() { _ = unix.Munmap(mapped) }() // nothing was written

	page := os.Getpagesize()
	states := make([]byte, (len(mapped)+page-1)/page)
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&mapped[0])), uintptr(len(mapped)),
		uintptr(unsafe.Pointer(&states[0])))
	if errno != 0 {
		return 0, errno
	}

	var resident int64
	for _, state := range states {
		resident += int64(state & 1)
	}
	return resident, nil
}
