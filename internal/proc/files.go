package proc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// FileID identifies a file of this machine until it is removed. Its paths do
// not: they differ between chroots and containers, and a file may have lost the
// name that it was opened by.
type FileID struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}

// IDOf is the identity of the file that info describes.
func IDOf(info fs.FileInfo) (FileID, bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return FileID{}, false
	}

	return FileID{stat.Dev, stat.Ino}, true
}

// FilesOn lists the files of one device that a process has open or mapped; seen
// is false where it may not be looked into. A process that has ended has none.
func (fs FS) FilesOn(pid int, device uint64) (files []FileID, seen bool) {
	maps, err := os.ReadFile(fs.File(pid, "maps"))
	if err != nil && !gone(err) {
		return nil, false
	}

	descriptors, err := os.ReadDir(fs.File(pid, "fd"))
	if err != nil && !gone(err) {
		return nil, false
	}

	files = mappedFiles(string(maps), device)
	for _, fd := range descriptors {
		path := filepath.Join(fs.File(pid, "fd"), fd.Name())
		if target, err := os.Readlink(path); err != nil || !strings.HasPrefix(target, "/") {
			continue // a socket, a pipe
		}
		info, err := os.Stat(path) // of the open file itself, whatever its path leads to here
		if err != nil {
			continue // closed meanwhile
		}
		if id, ok := IDOf(info); ok && id.Device == device {
			files = append(files, id)
		}
	}

	return files, true
}

// gone reports whether a process had ended when it was looked into.
func gone(err error) bool { return errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) }

// mappedFiles reads lines such as
// "7f01-7f02 rw-s 00000000 00:1b 1234      /dev/shm/psm_1".
func mappedFiles(maps string, device uint64) []FileID {
	const deviceField, inodeField, fields = 3, 4, 5

	number := deviceNumber(device)
	var files []FileID
	for line := range strings.Lines(maps) {
		if !strings.Contains(line, number) {
			continue // most lines, of which there may be thousands
		}
		words := strings.Fields(line)
		if len(words) < fields || words[deviceField] != number {
			continue
		}
		if inode, err := strconv.ParseUint(words[inodeField], 10, 64); err == nil && inode != 0 {
			files = append(files, FileID{device, inode})
		}
	}

	return files
}

// deviceNumber is how /proc/PID/maps writes a device.
func deviceNumber(device uint64) string {
	hex := func(n uint32) string {
		text := strconv.FormatUint(uint64(n), 16)
		if len(text) < 2 {
			text = "0" + text
		}
		return text
	}

	return hex(unix.Major(device)) + ":" + hex(unix.Minor(device))
}

// initialPIDNamespace is the kernel's number of the namespace that shows all
// processes of the machine (PROC_PID_INIT_INO).
const initialPIDNamespace = "pid:[4026531836]"

// errPartial says why not all processes of the machine can be seen.
var errPartial = errors.New("not all processes of this machine can be seen")

// Complete returns nil if all processes of the machine are listed here, and
// else an error that says why not and is errPartial.
func (fs FS) Complete() error {
	because := func(why string) error { return errors.Join(errPartial, errors.New(why)) }

	if !fs.Own() {
		return because(string(fs) + " is that of another pid namespace")
	}

	namespace, err := os.Readlink(filepath.Join(string(fs), "self/ns/pid"))
	if err != nil || namespace != initialPIDNamespace {
		return because("this is a pid namespace of its own, as in a container")
	}

	mounts, err := fs.Mounts()
	if err != nil {
		return because(err.Error())
	}

	for _, m := range mounts {
		if m.Kind != "proc" || m.Point != string(fs) {
			continue
		}
		for _, option := range m.Options {
			if value, found := strings.CutPrefix(option, "hidepid="); found && value != "0" && value != "off" {
				return because("/proc is mounted with " + option)
			}
		}
	}

	return nil
}

// Own reports whether the pids in this /proc are those of our pid namespace: in
// another's they name other processes.
func (fs FS) Own() bool {
	self, err := os.Readlink(filepath.Join(string(fs), "self"))

	return err == nil && self == strconv.Itoa(os.Getpid())
}

// KernelThread reports whether a process is a thread of the kernel, which has no
// memory and no files of its own.
func (p Process) KernelThread() bool { return p.PID == kthreadd || p.PPID == kthreadd }

const kthreadd = 2
