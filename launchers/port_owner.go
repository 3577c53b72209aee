package launchers

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// listener is one listening TCP socket of this machine.
type listener struct {
	addr  netip.AddrPort
	inode string
}

// listeners returns the sockets that listen on port, of both IP versions.
func listeners(port int) []listener {
	var found []listener
	for _, table := range socketTables() {
		for _, l := range parseListeners(onPort(table, port)) {
			if int(l.addr.Port()) == port {
				found = append(found, l)
			}
		}
	}
	return found
}

// socketTables are the TCP sockets of this machine, a text for each IP version.
func socketTables() []string {
	var tables []string
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		if text, err := os.ReadFile(file); err == nil { // else: no such IP version here
			tables = append(tables, string(text))
		}
	}
	return tables
}

// onPort keeps the lines of a table that name a port, at either end: a box may
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

// conflict finds a socket that listens where a server on host would.
func conflict(host string, port int) (listener, bool) {
	everywhere := reachable(host) != host
	for _, l := range listeners(port) {
		if everywhere || l.answers(host) {
			return l, true
		}
	}
	return listener{}, false
}

// lingering reports whether connections of a server that has ended keep the
// port from being bound: those that no process holds any more.
func lingering(port int) bool {
	for _, table := range socketTables() {
		for _, s := range parseSockets(onPort(table, port)) {
			if int(s.addr.Port()) == port && slices.Contains(closing, s.state) {
				return true
			}
		}
	}
	return false
}

// States of sockets in /proc/net/tcp.
const listening = "0A"

// closing are FIN_WAIT1, FIN_WAIT2, TIME_WAIT, LAST_ACK, CLOSING.
var closing = []string{"04", "05", "06", "09", "0B"}

// socket is one line of a socket table.
type socket struct {
	listener
	state string
}

// parseListeners reads the listening sockets of a table in the format of
// /proc/net/tcp; lines that it cannot read are left out.
func parseListeners(table string) []listener {
	var found []listener
	for _, s := range parseSockets(table) {
		if s.state == listening {
			found = append(found, s.listener)
		}
	}
	return found
}

func parseSockets(table string) []socket {
	const localColumn, stateColumn, inodeColumn = 1, 3, 9
	var found []socket
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) <= inodeColumn {
			continue
		}
		if addr, ok := parseAddress(fields[localColumn]); ok {
			found = append(found, socket{listener{addr, fields[inodeColumn]}, fields[stateColumn]})
		}
	}
	return found
}

// parseAddress reads "0100007F:1F90": hexadecimal, each 32-bit word of the
// address in the little-endian order of the machines that we run on.
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

// answers reports whether a connection to host can end up at the socket.
func (l listener) answers(host string) bool {
	addr := l.addr.Addr()
	if addr.IsUnspecified() {
		return true
	}
	want, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil { // a name: localhost is both loopbacks, any other could be anything
		return host != "localhost" || addr.IsLoopback()
	}
	return addr == want.Unmap()
}

// ownsSocket reports whether the process holds the socket open; false if its
// descriptors may not be seen.
func ownsSocket(pid int, inode string) bool {
	folder := filepath.Join("/proc", strconv.Itoa(pid), "fd")
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

// socketsVisible reports whether the descriptors of a process may be seen, or
// it has none because it has ended.
func socketsVisible(pid int) bool {
	_, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "fd"))
	return !errors.Is(err, fs.ErrPermission)
}

// holder finds a process that holds the socket; false if none can be seen.
func holder(inode string) (pid int, ok bool) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, false
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err == nil && ownsSocket(pid, inode) {
			return pid, true
		}
	}
	return 0, false
}

// describeHolder says who listens on the port, " (pid 42: llama-server ...)";
// "" if that cannot be seen.
func describeHolder(port int) string {
	for _, l := range listeners(port) {
		if pid, ok := holder(l.inode); ok {
			return fmt.Sprintf(" (pid %d: %s)", pid, commandLine(pid))
		}
	}
	return ""
}

// commandLine is the program of a process, for messages. Its arguments are
// left out, because they may hold secrets that are not ours.
func commandLine(pid int) string {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	program, _, _ := strings.Cut(string(text), "\x00")
	if err != nil || program == "" {
		return "unknown program"
	}
	return program
}
