package shm

import (
	"fmt"
	"os"
	"syscall"

	"github.com/benchrig/bench/internal/proc"
)

// entry is a plain file in the folder.
type entry struct {
	id    proc.FileID
	name  string
	uid   int
	bytes int64
	open  bool // its mode lets other users open it
}

// entries lists the plain files in the folder.
func (f Folder) entries() []entry {
	names, err := os.ReadDir(f.Path)
	if err != nil {
		return nil // no such place here
	}

	var all []entry
	for _, n := range names {
		info, err := n.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			continue
		}
		id, _ := proc.IDOf(info)
		all = append(all, entry{id, n.Name(), int(stat.Uid), info.Size(), info.Mode().Perm()&0o077 != 0})
	}

	return all
}

// device is that of the file system that holds the folder; 0 if there is none.
func (f Folder) device() uint64 {
	info, err := os.Stat(f.Path)
	if err != nil {
		return 0
	}
	id, _ := proc.IDOf(info)

	return id.Device
}

// view is who uses files of the folder at one moment.
type view struct {
	used   map[proc.FileID]bool
	hidden int // pid of a process of our user that may not be looked into; 0: none
	others int // those of another user
}

// look looks into the processes that include lets through; nil: into all.
func (f Folder) look(include func(pid int) bool) (view, error) {
	processes, err := f.Proc.Processes(0)
	if err != nil {
		return view{}, err
	}

	v := view{used: map[proc.FileID]bool{}}
	device := f.device()
	for _, p := range processes {
		if p.Zombie() || p.KernelThread() || include != nil && !include(p.PID) {
			continue
		}
		files, seen := f.Proc.FilesOn(p.PID, device)
		for _, id := range files {
			v.used[id] = true
		}
		if !seen {
			v.note(p.PID, f)
		}
	}

	return v, nil
}

// note takes down a process that may not be looked into. The machine's init
// counts for nothing: it uses no files of engines.
func (v *view) note(pid int, f Folder) {
	switch uid, known := f.Proc.Owner(pid); {
	case !known || pid == 1: // it has ended, or is init
	case uid == f.UID:
		v.hidden = pid
	default:
		v.others = pid
	}
}

// inTheWay says why a file must stay; "" if nobody uses it. Of a process of
// another user that may not be looked into it is enough that it was not allowed
// to open the file.
func (v view) inTheWay(e entry) string {
	switch {
	case v.used[e.id]:
		return "a process has it open or mapped"
	case v.hidden != 0:
		return fmt.Sprintf("process %d may use it and cannot be inspected", v.hidden)
	case v.others != 0 && e.open:
		return fmt.Sprintf("process %d of another user may use it and cannot be inspected", v.others)
	}

	return ""
}
