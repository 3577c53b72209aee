package proc

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Listener is one listening TCP socket of this machine.
type Listener struct {
	Addr  netip.AddrPort
	Inode string
}

// Listeners returns the sockets that listen on port, of both IP versions.
func (fs FS) Listeners(port int) []Listener {
	var found []Listener
	for _, s := range fs.sockets(port, []int{listening}) {
		found = append(found, s.Listener)
	}
	return found
}

// Lingering reports whether connections of a server that has ended keep the
// port from being bound: those that no process holds any more.
func (fs FS) Lingering(port int) bool { return len(fs.sockets(port, closing)) > 0 }

// States of sockets, as the kernel numbers them.
const listening = 10

// closing are FIN_WAIT1, FIN_WAIT2, TIME_WAIT, LAST_ACK, CLOSING.
var closing = []int{4, 5, 6, 9, 11}

// socket is a TCP socket of this machine.
type socket struct {
	Listener
	state int
}

// sockets are those with that local port in one of the states.
func (fs FS) sockets(port int, states []int) []socket {
	if fs == System {
		if found, err := diagSockets(port, states); err == nil {
			return found
		}
	}

	var found []socket
	for _, file := range []string{"net/tcp", "net/tcp6"} {
		table, err := os.ReadFile(filepath.Join(string(fs), file))
		if err != nil {
			continue // no such IP version here
		}
		for _, s := range parseSockets(onPort(string(table), port)) {
			if int(s.Addr.Port()) == port && slices.Contains(states, s.state) {
				found = append(found, s)
			}
		}
	}
	return found
}

// onPort keeps the lines of a table that name a port, at either end: a machine may
// have thousands of connections, and most lines need not be taken apart.
func onPort(table string, port int) string {
	var kept strings.Builder
	number := fmt.Sprintf(":%04X ", port)
	for line := range strings.Lines(table) {
		if strings.Contains(line, number) {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// parseSockets reads a table in the format of /proc/net/tcp; lines that it cannot
// read are left out.
func parseSockets(table string) []socket {
	const localColumn, stateColumn, inodeColumn = 1, 3, 9
	var found []socket
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) <= inodeColumn {
			continue
		}
		addr, isAddr := parseAddress(fields[localColumn])
		if state, err := strconv.ParseUint(fields[stateColumn], 16, 8); isAddr && err == nil {
			found = append(found, socket{Listener{addr, fields[inodeColumn]}, int(state)})
		}
	}
	return found
}

// parseAddress reads "0100007F:1F90": hexadecimal, each 32-bit word of the
// address in the little-endian order of the machines that bench runs on.
func parseAddress(text string) (netip.AddrPort, bool) {
	address, portText, _ := strings.Cut(text, ":")
	port, err := strconv.ParseUint(portText, 16, 16)
	if err != nil {
		return netip.AddrPort{}, false
	}
	raw, err := hex.DecodeString(address)
	if err != nil {
		return netip.AddrPort{}, false
	}
	for word := range slices.Chunk(raw, 4) {
		slices.Reverse(word)
	}
	addr, ok := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(addr.Unmap(), uint16(port)), ok
}

// Answers reports whether a connection to host can end up at the socket.
func (l Listener) Answers(host string) bool {
	addr := l.Addr.Addr()
	if addr.IsUnspecified() {
		return true
	}
	want, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil { // a name: localhost is both loopbacks, any other could be anything
		return host != "localhost" || addr.IsLoopback()
	}
	return addr == want.Unmap()
}

// OwnsSocket reports whether the process holds the socket open; false if its
// descriptors may not be seen.
func (fs FS) OwnsSocket(pid int, inode string) bool {
	folder := fs.File(pid, "fd")
	entries, err := os.ReadDir(folder)
	if err != nil {
		return false
	}
	want := "socket:[" + inode + "]"
	return slices.ContainsFunc(entries, func(entry os.DirEntry) bool {
		target, err := os.Readlink(filepath.Join(folder, entry.Name()))
		return err == nil && target == want
	})
}

// SocketsVisible reports whether the descriptors of a process may be seen, or
// it has none because it has ended.
func (fs FS) SocketsVisible(pid int) bool {
	_, err := os.ReadDir(fs.File(pid, "fd"))
	return !errors.Is(err, os.ErrPermission)
}

// SocketHolders lists the processes that are seen to hold the socket, by pid.
func (fs FS) SocketHolders(inode string) []int {
	pids, err := fs.PIDs()
	if err != nil {
		return nil
	}

	holders := slices.DeleteFunc(pids, func(pid int) bool { return !fs.OwnsSocket(pid, inode) })
	slices.Sort(holders)

	return holders
}
