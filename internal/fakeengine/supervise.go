package fakeengine

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// workerVariable marks a worker, which serves on the listener of its supervisor.
const workerVariable = "BENCH_FAKE_WORKER"

// listenerFD is the descriptor under which a worker has the listener.
const listenerFD = 3

// supervise is an engine whose first process holds the socket and has a worker
// serve on it. One that ends is replaced by another, which nobody asks to.
func supervise(config Config, stop <-chan os.Signal) int {
	host, port := address(os.Args[1:], "")
	var listen net.ListenConfig
	listener, err := listen.Listen(context.Background(), "tcp", net.JoinHostPort(host, port))
	if err != nil {
		fmt.Fprintln(os.Stderr, "fake engine:", err)
		return 1
	}
	file, err := listener.(*net.TCPListener).File()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fake engine:", err)
		return 1
	}

	for {
		worker := exec.CommandContext(context.Background(), os.Args[0], os.Args[1:]...)
		worker.Env = append(withoutEngine(os.Environ()), config.Env(), workerVariable+"=1")
		worker.Stderr, worker.ExtraFiles = os.Stderr, []*os.File{file}
		if err := worker.Start(); err != nil {
			fmt.Fprintln(os.Stderr, "fake engine:", err)
			return 1
		}

		gone := make(chan struct{})
		go func() { _ = worker.Wait(); close(gone) }()
		select {
		case <-gone:
			config.ReplaceAt = -1 // the next one stays
		case <-stop:
			_ = worker.Process.Signal(unix.SIGTERM)
			<-gone
			return 0
		}
	}
}

// inherited is the listener of a worker's supervisor; false in any other process.
func inherited() (net.Listener, bool, error) {
	if os.Getenv(workerVariable) == "" {
		return nil, false, nil
	}
	listener, err := net.FileListener(os.NewFile(listenerFD, "listener"))
	return listener, true, err
}

// leaveTo ends a worker once it has answered what it has begun, without a word: it
// accepts nothing more, and serves the connections that it has.
func (e *engine) leaveTo(listener net.Listener) {
	const look, quietLooks = 50 * time.Millisecond, 10
	_ = listener.Close()
	for quiet := 0; quiet < quietLooks; quiet++ {
		if e.active.Load() > 0 {
			quiet = 0
		}
		time.Sleep(look)
	}
	e.exit <- 0
}

// Ways to spoil the engine's own log, see Config.LogFault.
const (
	LogFIFO     = "fifo"
	LogTruncate = "truncate"
	LogDelete   = "delete"
)

// spoilLog does to the file behind stderr what somebody with an odd idea of log
// rotation might.
func spoilLog(how string) {
	path, err := filepath.EvalSymlinks("/proc/self/fd/2")
	if err != nil {
		return
	}
	switch how {
	case LogTruncate:
		_ = os.Truncate(path, 0)
	case LogDelete:
		_ = os.Remove(path)
	case LogFIFO:
		_ = os.Remove(path)
		_ = unix.Mkfifo(path, 0o600)
	}
	fmt.Fprintln(os.Stderr, "the log goes on after", how)
}
