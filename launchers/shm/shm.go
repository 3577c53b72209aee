package shm

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/results"
)

// Folder is where programs keep the memory that their processes share. A
// process that is killed leaves its files there, and when the place is full no
// engine starts.
type Folder struct {
	Path string
	Proc proc.FS // shows who uses a file
	UID  int     // whose files may be removed
}

// Here is that of this machine and user.
func Here() Folder { return Folder{"/dev/shm", proc.System, os.Geteuid()} }

// Ledger knows which files in shared memory the processes of our servers have
// had open or mapped.
type Ledger struct {
	Folder *Folder // nil: this machine's

	mu    sync.Mutex // guards all below
	files map[proc.FileID]*file
}

// file is one that a server of ours used.
type file struct {
	users  map[*Use]bool // servers that are not proven gone
	shared bool          // somebody else used it, too
}

// Use is one server's part of the ledger.
type Use struct {
	ledger *Ledger
	folder Folder
	device uint64               // 0: there is no such folder
	before map[proc.FileID]bool // what lay there before the server: not its own
	once   sync.Once

	removed []string
	left    []results.SharedFile
}

// Enter counts a server in, before its start.
func (l *Ledger) Enter() *Use {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Folder == nil {
		l.Folder = new(Here())
	}

	u := &Use{ledger: l, folder: *l.Folder, before: map[proc.FileID]bool{}}
	u.device = u.folder.device()
	for _, e := range u.folder.entries() {
		u.before[e.id] = l.files[e.id] == nil // that of another server of ours may be shared
	}

	return u
}

// Note takes down which files the server's processes have open or mapped now.
// It returns those that are new, for the journal: a later program knows the
// server's files by nothing else.
func (u *Use) Note(pids []int) []results.SharedFile {
	if u.device == 0 {
		return nil
	}

	u.ledger.mu.Lock()
	defer u.ledger.mu.Unlock()

	used := map[proc.FileID]bool{}
	for _, pid := range pids {
		files, _ := u.folder.Proc.FilesOn(pid, u.device)
		for _, id := range files {
			used[id] = true
		}
	}

	var fresh []proc.FileID
	for _, e := range u.folder.entries() {
		switch known := u.ledger.files[e.id]; {
		case !used[e.id]:
		case known != nil:
			known.users[u] = true
		case !u.before[e.id]:
			fresh = append(fresh, e.id)
		}
	}

	if len(fresh) == 0 {
		return nil
	}

	return u.add(fresh, pids)
}

// add takes files into the ledger. One that a process besides the server's uses
// as well may be a stranger's that the server only opened. The caller holds the
// ledger's mu.
func (u *Use) add(fresh []proc.FileID, pids []int) []results.SharedFile {
	if u.ledger.files == nil {
		u.ledger.files = map[proc.FileID]*file{}
	}

	others, err := u.folder.look(func(pid int) bool { return !slices.Contains(pids, pid) })

	var added []results.SharedFile
	for _, id := range fresh {
		shared := err != nil || others.used[id]
		u.ledger.files[id] = &file{users: map[*Use]bool{u: true}, shared: shared}
		if !shared {
			added = append(added, results.SharedFile{Device: id.Device, Inode: id.Inode})
		}
	}

	return added
}

// Leave counts the server out, whose processes are gone, and removes the files
// that no server of ours uses any more. It may be called again.
func (u *Use) Leave() (removed []string, left []results.SharedFile) {
	u.once.Do(func() { u.removed, u.left = u.leave() })

	return u.removed, u.left
}

func (u *Use) leave() (removed []string, left []results.SharedFile) {
	u.ledger.mu.Lock()
	defer u.ledger.mu.Unlock()

	ours := map[proc.FileID]bool{}
	for id, f := range u.ledger.files {
		delete(f.users, u)
		if len(f.users) > 0 {
			continue
		}
		delete(u.ledger.files, id)
		ours[id] = !f.shared
	}

	return u.folder.remove(ours)
}

// Remove removes files that were noted of a server which an earlier program
// started in this boot, and whose processes are gone.
func (f Folder) Remove(noted []results.SharedFile) (removed []string, left []results.SharedFile) {
	ours := map[proc.FileID]bool{}
	for _, n := range noted {
		ours[proc.FileID{Device: n.Device, Inode: n.Inode}] = true
	}

	return f.remove(ours)
}

// remove removes the files of ours that nobody uses. It removes none unless
// everybody who could use one can be seen.
func (f Folder) remove(ours map[proc.FileID]bool) (removed []string, left []results.SharedFile) {
	candidates := slices.DeleteFunc(f.entries(), func(e entry) bool { return !ours[e.id] || e.uid != f.UID })
	if len(candidates) == 0 {
		return nil, nil
	}

	err := f.Proc.Complete()
	var now view
	if err == nil {
		now, err = f.look(nil)
	}

	for _, e := range candidates {
		why := now.inTheWay(e)
		if err != nil {
			why = err.Error()
		}
		if why == "" && !f.unlink(e) {
			why = "it could not be removed"
		}
		if why == "" {
			removed = append(removed, e.name)
			continue
		}
		left = append(left, results.SharedFile{
			Device: e.id.Device, Inode: e.id.Inode, Path: filepath.Join(f.Path, e.name), Bytes: e.bytes, Why: why,
		})
	}

	return removed, left
}

// unlink removes a file, if its name still leads to it.
func (f Folder) unlink(e entry) bool {
	path := filepath.Join(f.Path, e.name)
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	if id, ok := proc.IDOf(info); !ok || id != e.id {
		return false
	}

	return os.Remove(path) == nil
}

// Describe says which files are left, why, and how to remove them; "" for none.
func Describe(left []results.SharedFile) string {
	var texts []string
	for _, l := range left {
		texts = append(texts, fmt.Sprintf("%s is left in shared memory (%s); remove it with: rm %s", l.Path, l.Why,
			l.Path))
	}

	return strings.Join(texts, "; ")
}
