package launchers

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

	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/results"
)

const (
	dialTime = time.Second
	maxPort  = 65535
)

// portFree returns nil if nobody listens on the port, nobody answers, and it
// can be bound by us alone. All are needed: some servers bind long before they
// listen, and some share a port with others (SO_REUSEPORT), where connecting
// alone would see only one.
func portFree(ctx context.Context, host string, port int) *results.Failure {
	if port < 1 || port > maxPort {
		return results.Failf(results.FailBadRecipe, "port %d is out of range: use 1 to %d", port, maxPort)
	}
	if l, taken := conflict(host, port); taken {
		return results.Failf(results.FailPortInUse, "port %d is listened on already, on %s%s: stop that server or set another port:",
			port, l.addr.Addr(), describeHolder(port))
	}
	address := net.JoinHostPort(reachable(host), strconv.Itoa(port))
	dialer := net.Dialer{Timeout: dialTime}
	if conn, err := dialer.DialContext(ctx, "tcp", address); err == nil {
		_ = conn.Close()
		return results.Failf(results.FailPortInUse, "port %d already answers on %s%s: stop that server or set another port:",
			port, address, describeHolder(port))
	}
	err := bind(ctx, host, port, false)
	if errors.Is(err, unix.EADDRINUSE) && lingering(port) {
		// Connections of a server that has ended, in TIME_WAIT for a minute.
		// They are in nobody's way: servers bind as we do here.
		err = bind(ctx, host, port, true)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EADDRINUSE):
		return results.Failf(results.FailPortInUse, "port %d is bound already%s: stop that server or set another port:",
			port, describeHolder(port))
	case errors.Is(err, unix.EACCES):
		return results.Failf(results.FailBadRecipe, "port %d needs privileges to bind: use one above 1023", port)
	case errors.Is(err, unix.EADDRNOTAVAIL):
		return results.Failf(results.FailBadRecipe, "host %q is no address of this machine: set host: to one that is", host)
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

// awaitPortFree gives the kernel a moment to let go of a stopped server's port.
func awaitPortFree(ctx context.Context, host string, port int) bool {
	ctx, cancel := context.WithTimeout(ctx, portReleaseTime)
	defer cancel()
	for portFree(ctx, host, port) != nil {
		if !sleep.For(ctx, minPoll) {
			return false
		}
	}
	return true
}

const portReleaseTime = 5 * time.Second

// FreePort returns the first port at or above from that can be listened on
// and is not in avoid.
func FreePort(ctx context.Context, host string, from int, avoid []int) (int, error) {
	for port := max(from, 1); port <= maxPort && ctx.Err() == nil; port++ {
		if !slices.Contains(avoid, port) && portFree(ctx, host, port) == nil {
			return port, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	return 0, fmt.Errorf("find a free port on %q: none from %d to %d", host, from, maxPort)
}

// reachable is the host under which a server that listens on host is reached
// from this machine.
func reachable(host string) string {
	switch host {
	case "", "0.0.0.0":
		return "127.0.0.1"
	case "::", "[::]":
		return "::1"
	}
	return host
}
