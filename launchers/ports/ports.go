// Package ports says whether a TCP port of this machine is free, and who holds
// it if not.
//
// What goes in: a host and a port. What comes out: nil, or the failure with what
// to do. It keeps no port: what is free now may be taken in a moment.
package ports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/results"
)

const (
	dialTime = time.Second
	// Max is the highest port.
	Max = 65535
)

// Check returns nil if nobody listens on the port, nobody answers, and it
// can be bound by us alone. All are needed: some servers bind long before they
// listen, and some share a port with others (SO_REUSEPORT), where connecting
// alone would see only one.
func Check(ctx context.Context, host string, port int) *results.Failure {
	if port < 1 || port > Max {
		return results.Failf(results.FailBadRecipe, "port %d is out of range: use 1 to %d", port, Max)
	}
	if listeners := conflicts(host, port); len(listeners) > 0 {
		return results.Failf(results.FailPortInUse,
			"port %d is in use already, on %s%s: stop that server or set another port:",
			port, listeners[0].Addr.Addr(), Holder(port))
	}

	address := net.JoinHostPort(Reachable(host), strconv.Itoa(port))
	dialer := net.Dialer{Timeout: dialTime}
	if conn, err := dialer.DialContext(ctx, "tcp", address); err == nil {
		_ = conn.Close()
		return results.Failf(results.FailPortInUse,
			"port %d already answers on %s%s: stop that server or set another port:",
			port, address, Holder(port))
	}

	err := bind(ctx, host, port, false)
	if errors.Is(err, unix.EADDRINUSE) && proc.System.Lingering(port) {
		// Connections of a server that has ended, in TIME_WAIT for a minute.
		// They are in nobody's way: servers bind as is done here.
		err = bind(ctx, host, port, true)
	}

	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EADDRINUSE):
		return results.Failf(results.FailPortInUse, "port %d is bound already%s: stop that server or set another port:",
			port, Holder(port))
	case errors.Is(err, unix.EACCES):
		return results.Failf(results.FailBadRecipe, "port %d needs privileges to bind: use one above 1023", port)
	case errors.Is(err, unix.EADDRNOTAVAIL):
		return results.Failf(results.FailBadRecipe, "host %q is not an address of this machine: set host: "+
			"to one that is",
			host)
	}

	return results.Failf(results.FailBadRecipe, "listen on host %q port %d: %v", host, port, err)
}

// bind binds and listens for a moment, never beside others. Without reuse it
// also fails where a socket is bound that does not listen yet, as that of an
// engine that still loads its model.
func bind(ctx context.Context, host string, port int, reuse bool) error {
	value := 0
	if reuse {
		value = 1
	}

	config := net.ListenConfig{Control: func(_, _ string, conn syscall.RawConn) error {
		var failed error
		err := conn.Control(func(fd uintptr) {
			failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEADDR, value)
		})
		return cmp.Or(err, failed)
	}}
	listener, err := config.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return err
	}

	return listener.Close()
}

// AwaitFree gives the kernel a moment to let go of a stopped server's port.
func AwaitFree(ctx context.Context, host string, port int) bool { return await(ctx, Check, host, port) }

// check returns nil if a port is free.
type check func(ctx context.Context, host string, port int) *results.Failure

func await(ctx context.Context, free check, host string, port int) bool {
	ctx, cancel := awake.WithTimeout(ctx, portReleaseTime)
	defer cancel()
	for free(ctx, host, port) != nil {
		if !sleep.For(ctx, pollPause) {
			return false
		}
	}
	return true
}

// TakenOver reports whether each socket that listens where a server on host did
// is held by a process that can be seen. Once that server's processes are all
// gone, those are other people's.
func TakenOver(host string, port int) bool {
	listeners := conflicts(host, port)
	return len(listeners) > 0 && !slices.ContainsFunc(listeners, func(l proc.Listener) bool {
		return len(proc.System.SocketHolders(l.Inode)) == 0
	})
}

const (
	portReleaseTime = 5 * time.Second
	pollPause       = 100 * time.Millisecond
)

// Find returns the first port at or above from that can be listened on
// and is not in avoid.
func Find(ctx context.Context, host string, from int, avoid []int) (int, error) {
	return find(ctx, Check, host, from, avoid)
}

func find(ctx context.Context, free check, host string, from int, avoid []int) (int, error) {
	for port := max(from, 1); port <= Max && ctx.Err() == nil; port++ {
		if !slices.Contains(avoid, port) && free(ctx, host, port) == nil {
			return port, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	return 0, fmt.Errorf("find a free port on %q: none from %d to %d", host, from, Max)
}

// FindRange returns the first of n ports in a row, at or above from, that can all
// be listened on and are not in avoid.
func FindRange(ctx context.Context, host string, from, n int, avoid []int) (int, error) {
	first := from
	for first+n-1 <= Max {
		port, err := Find(ctx, host, first, avoid)
		if err != nil {
			return 0, err
		}
		for first = port; port < first+n; port++ {
			if slices.Contains(avoid, port) || Check(ctx, host, port) != nil {
				break
			}
		}
		if port == first+n {
			return first, nil
		}
		first = port + 1
	}
	return 0, fmt.Errorf("find %d free ports in a row on %q: none from %d to %d", n, host, from, Max)
}

// CheckElsewhere returns nil if nobody answers at the port of another machine.
// What only binds it there is not seen.
func CheckElsewhere(ctx context.Context, host string, port int) *results.Failure {
	if port < 1 || port > Max {
		return results.Failf(results.FailBadRecipe, "port %d is out of range: use 1 to %d", port, Max)
	}
	address := net.JoinHostPort(host, strconv.Itoa(port))
	dialer := net.Dialer{Timeout: dialTime}
	if conn, err := dialer.DialContext(ctx, "tcp", address); err == nil {
		_ = conn.Close()
		return results.Failf(results.FailPortInUse, "somebody answers at %s already: set another port:", address)
	}
	return nil
}

// FindElsewhere is Find for a port of another machine.
func FindElsewhere(ctx context.Context, host string, from int, avoid []int) (int, error) {
	return find(ctx, CheckElsewhere, host, from, avoid)
}

// AwaitSilence is AwaitFree for a port of another machine.
func AwaitSilence(ctx context.Context, host string, port int) bool {
	return await(ctx, CheckElsewhere, host, port)
}

// Reachable is the host under which a server that listens on host is reached
// from this machine.
func Reachable(host string) string {
	switch host {
	case "", "0.0.0.0":
		return "127.0.0.1"
	case "::", "[::]":
		return "::1"
	}
	return host
}

// conflicts are the sockets that listen where a server on host would.
func conflicts(host string, port int) []proc.Listener {
	everywhere := Reachable(host) != host
	return slices.DeleteFunc(proc.System.Listeners(port), func(l proc.Listener) bool {
		return !everywhere && !l.Answers(host)
	})
}

// Holder says who listens on the port, " (pid 42: llama-server ...)";
// "" if that cannot be seen.
func Holder(port int) string {
	for _, l := range proc.System.Listeners(port) {
		for _, pid := range proc.System.SocketHolders(l.Inode) {
			return fmt.Sprintf(" (pid %d: %s)", pid, proc.System.Program(pid))
		}
	}
	return ""
}
