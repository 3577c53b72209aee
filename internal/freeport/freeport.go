// Package freeport gives tests ports that no other test on this machine has.
//
// What goes in: how many ports. What comes out: ports on 127.0.0.1 that are free and
// stay this process's own until it ends. It never ships.
package freeport

import (
	"context"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"

	"github.com/benchrig/bench/internal/proc"
)

// claims are what this process holds.
var claims struct {
	sync.Mutex
	list []net.Listener
}

// The ports lie below those that the kernel gives to outgoing connections.
const first, last = 20000, 32000

// Take returns the first of n adjacent ports on which nothing listens and no connection
// lingers. They are this process's own: other tests that ask here do not get them.
func Take(t testing.TB, n int) int {
	t.Helper()
	from := rand.IntN(last - first)
	for i := range last - first {
		port := first + (from+i*n)%(last-first)
		if takeAll(port, n) {
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

func takeAll(port, n int) bool {
	for p := port; p < port+n; p++ {
		if !take(p) {
			return false
		}
	}
	return true
}

// take claims a port by a socket in the abstract namespace, which the kernel closes
// with the process.
func take(port int) bool {
	text := strconv.Itoa(port)
	claim, err := net.ListenUnix("unix", &net.UnixAddr{Name: "@bench-test-port-" + text, Net: "unix"})
	if err != nil {
		return false
	}
	claims.Lock()
	claims.list = append(claims.list, claim)
	claims.Unlock()

	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", net.JoinHostPort("127.0.0.1", text))
	if err != nil {
		return false
	}
	return listener.Close() == nil && !proc.System.Lingering(port)
}
