package proc

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Sizes in bytes and places of the kernel's answers and questions about sockets
// (linux/inet_diag.h). Ports and addresses are in network order.
const (
	diagAskSize      = 56
	diagAskStates    = 4
	diagAskPort      = 8
	diagSize         = 72
	diagState        = 1
	diagPort         = 4
	diagAddress      = 8
	diagInode        = 68
	diagWait         = 1 // s, for an answer that comes at once
	diagBuffer       = 64 << 10
	sockDiagByFamily = 20
)

var errDiag = errors.New("the kernel does not list sockets by netlink")

// diagSockets asks the kernel for the TCP sockets of this machine with that local port
// in one of the states. Unlike /proc/net/tcp, it need not print all others, of which a
// machine under load has thousands.
func diagSockets(port int, states []int) ([]socket, error) {
	var found []socket
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		some, err := diagFamily(family, port, states)
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	return found, nil
}

func diagFamily(family uint8, port int, states []int) ([]socket, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }() // nothing is written

	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: diagWait}); err != nil {
		return nil, err
	}
	kernel := &unix.SockaddrNetlink{Family: unix.AF_NETLINK}
	if err := unix.Sendto(fd, diagQuestion(family, port, states), 0, kernel); err != nil {
		return nil, err
	}

	var found []socket
	buffer := make([]byte, diagBuffer)
	for {
		n, _, err := unix.Recvfrom(fd, buffer, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		messages, err := syscall.ParseNetlinkMessage(buffer[:n])
		if err != nil || len(messages) == 0 {
			return nil, errDiag
		}

		for _, m := range messages {
			switch {
			case m.Header.Type == unix.NLMSG_DONE:
				return found, nil
			case m.Header.Type == unix.NLMSG_ERROR || len(m.Data) < diagSize:
				return nil, errDiag
			}
			found = append(found, diagSocket(family, m.Data))
		}
	}
}

// diagQuestion asks for a list; an array of the machine's byte order but for the port.
func diagQuestion(family uint8, port int, states []int) []byte {
	q := make([]byte, unix.SizeofNlMsghdr, unix.SizeofNlMsghdr+diagAskSize)
	binary.NativeEndian.PutUint32(q, uint32(cap(q)))
	binary.NativeEndian.PutUint16(q[4:], sockDiagByFamily)
	binary.NativeEndian.PutUint16(q[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)

	body := q[len(q):cap(q)]
	body[0], body[1] = family, unix.IPPROTO_TCP
	mask := uint32(0)
	for _, state := range states {
		mask |= 1 << state
	}
	binary.NativeEndian.PutUint32(body[diagAskStates:], mask)
	binary.BigEndian.PutUint16(body[diagAskPort:], uint16(port))

	return q[:cap(q)]
}

// diagSocket reads an answer, which is long enough.
func diagSocket(family uint8, data []byte) socket {
	size := 4
	if family == unix.AF_INET6 {
		size = 16
	}
	addr, _ := netip.AddrFromSlice(data[diagAddress : diagAddress+size])
	return socket{
		Listener: Listener{
			Addr:  netip.AddrPortFrom(addr.Unmap(), binary.BigEndian.Uint16(data[diagPort:])),
			Inode: strconv.FormatUint(uint64(binary.NativeEndian.Uint32(data[diagInode:])), 10),
		},
		state: int(data[diagState]),
	}
}
