// Package stranger is a test double: somebody else's program on the machine. It
// holds what engines hold, and looks all the time whether it still does: shared
// memory, a semaphore, a port, sockets, a file lock, a process of its own, memory
// of a GPU and a container, for which files of their fakes stand.
//
// What goes in: a Config in an environment variable. What comes out: a process,
// and a line in Config.Noticed for everything that was taken from it, signals
// included. bench must never make it write one.
package stranger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Variable names the environment variable that turns a test binary into a
// stranger.
const Variable = "BENCH_TEST_STRANGER"

const (
	lifetime = 10 * time.Minute // of what a broken test left behind
	pause    = 20 * time.Millisecond
	size     = 4096 // bytes of a block of shared memory

	// socket is in Config.Dir, the working directory. Its whole path could be longer
	// than the 107 bytes that the kernel allows for the address of a socket.
	socket = "stranger.sock"
)

// Config says what the stranger holds.
type Config struct {
	Shm   string // folder of shared memory
	ID    string // makes names unlike those of other strangers
	Dir   string // for its sockets and its lock
	Port  int    // that it listens on
	Ready string // file that is made once it holds everything
	// files and folders of fakes that must stay once they are there: of the memory
	// that it holds of a GPU, of its container. A last element PID is its own pid
	Kept    []string
	Noticed string // file that it writes to when something was taken from it
}

// Env is the entry of an environment that makes a test binary the stranger.
func (c Config) Env() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}

	return Variable + "=" + string(text)
}

// Files are the names of its files in shared memory: a semaphore and a block as
// Python's multiprocessing names them, and one that is nobody's half of the time,
// as between a producer and its consumer.
func (c Config) Files() []string {
	return []string{"sem.mp-stranger-" + c.ID, "psm_stranger_" + c.ID, "psm_handed_over_" + c.ID}
}

// Main plays the stranger and exits, if this process was started as one; else it
// returns at once.
func Main() {
	text, found := os.LookupEnv(Variable)
	if !found {
		return
	}

	var config Config
	if err := json.Unmarshal([]byte(text), &config); err != nil {
		fmt.Fprintln(os.Stderr, "stranger:", err)
		os.Exit(90)
	}

	s := &stranger{Config: config}
	if err := errors.Join(os.Chdir(s.Dir), s.hold()); err != nil {
		s.notice("it cannot start: %v", err)
		os.Exit(91)
	}

	s.watch()
	os.Exit(0)
}

// stranger is the program.
type stranger struct {
	Config

	blocks []block
	passed block // handed over again and again
	child  *exec.Cmd
	lock   *os.File
	kept   map[string]uint64 // inodes of Kept; a file that is not there yet has none
}

// block is a file in shared memory that is mapped.
type block struct {
	path  string
	inode uint64
	pages []byte
}

// hold takes everything.
func (s *stranger) hold() error {
	for _, name := range s.Files() {
		b, err := mapBlock(filepath.Join(s.Shm, name), os.O_CREATE|os.O_EXCL)
		if err != nil {
			return err
		}
		s.blocks = append(s.blocks, b)
	}

	last := len(s.blocks) - 1
	s.passed, s.blocks = s.blocks[last], s.blocks[:last]

	for network, address := range map[string]string{"tcp": s.address(), "unix": socket} {
		listener, err := new(net.ListenConfig).Listen(context.Background(), network, address)
		if err != nil {
			return err
		}
		if tcp, ok := listener.Addr().(*net.TCPAddr); ok {
			s.Port = tcp.Port
		}
		go greet(listener)
	}

	var err error
	if s.lock, err = os.Create(filepath.Join(s.Dir, "stranger.lock")); err != nil {
		return err
	}
	if err := syscall.Flock(int(s.lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}

	s.child = exec.CommandContext(context.Background(), "sleep", "180")
	s.child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.child.Start(); err != nil {
		return err
	}

	return os.WriteFile(s.Ready, nil, 0o644)
}

// address is that of its port; a test of the stranger itself lets the kernel
// choose one.
func (s *stranger) address() string { return fmt.Sprintf("127.0.0.1:%d", s.Port) }

func greet(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		_, _ = conn.Write([]byte("stranger"))
		_ = conn.Close()
	}
}

// mapBlock opens a block and maps it.
func mapBlock(path string, flags int) (block, error) {
	file, err := os.OpenFile(path, flags|os.O_RDWR, 0o600)
	if err != nil {
		return block{}, err
	}
	defer file.Close()

	if err := file.Truncate(size); err != nil {
		return block{}, err
	}

	inode, err := inodeOf(path)
	if err != nil {
		return block{}, err
	}

	pages, err := syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)

	return block{path, inode, pages}, err
}

func inodeOf(path string) (uint64, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, errors.New("no inode")
	}

	return stat.Ino, nil
}

// watch looks after what it holds until SIGKILL or its lifetime ends it.
func (s *stranger) watch() {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGCONT,
		syscall.SIGUSR1)
	childEnded := make(chan struct{})
	go func() { _ = s.child.Wait(); close(childEnded) }()

	end := time.After(lifetime)
	for round := 0; ; round++ {
		select {
		case got := <-signals:
			s.notice("it got %v", got)
		case <-childEnded:
			s.notice("its child was ended")
			childEnded = nil
		case <-end:
			_ = s.child.Process.Kill()
			return
		case <-time.After(pause):
		}
		s.check()
		if round%8 == 7 {
			s.handOver()
		}
	}
}

func (s *stranger) check() {
	for i, b := range s.blocks {
		if inode, err := inodeOf(b.path); err != nil || inode != b.inode {
			s.notice("%s was taken", b.path)
			s.blocks = append(s.blocks[:i:i], s.blocks[i+1:]...)
			return
		}
	}

	for network, address := range map[string]string{"tcp": s.address(), "unix": socket} {
		conn, err := new(net.Dialer).DialContext(context.Background(), network, address)
		if err != nil {
			s.notice("its socket %s does not answer: %v", address, err)
			continue
		}
		_ = conn.Close()
	}

	if _, err := os.Lstat(s.lock.Name()); err != nil {
		s.notice("its lock file was taken")
	}
	s.checkKept()
}

// checkKept looks at the files of fakes, which come after the stranger.
func (s *stranger) checkKept() {
	if s.kept == nil {
		s.kept = map[string]uint64{}
	}
	for _, path := range s.Kept {
		if filepath.Base(path) == "PID" {
			path = filepath.Join(filepath.Dir(path), strconv.Itoa(os.Getpid()))
		}
		inode, err := inodeOf(path)
		known, seen := s.kept[path]
		switch {
		case seen && known != 0 && err != nil:
			s.notice("%s was taken", path)
			s.kept[path] = 0
		case !seen && err == nil:
			s.kept[path] = inode
		}
	}
}

// handOver closes a block, so that nobody has it open for a while, and opens it
// again.
func (s *stranger) handOver() {
	if s.passed.pages != nil {
		_ = syscall.Munmap(s.passed.pages)
		s.passed.pages = nil
		return
	}

	again, err := mapBlock(s.passed.path, 0)
	if err != nil || again.inode != s.passed.inode {
		s.notice("%s was taken while nobody had it open", s.passed.path)
		again = block{path: s.passed.path, inode: again.inode}
	}
	s.passed = again
}

// notice writes a line.
func (s *stranger) notice(format string, args ...any) {
	file, err := os.OpenFile(s.Noticed, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return
	}
	fmt.Fprintf(file, format+"\n", args...)
	_ = file.Close()
}
