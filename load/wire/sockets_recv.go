package wire

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/load/wire/sse"
)

// receiver reads sockets by recvmsg, which returns with the bytes when the newest of
// them arrived, and how many it left.
type receiver struct {
	msg     unix.Msghdr
	iov     unix.Iovec
	control [64]byte
	left    int // bytes that the latest read left; 1 where some may be left and the kernel does not tell
}

// receive reads once without waiting. wall is when the newest of the bytes arrived,
// in nanoseconds since 1970; 0 if the kernel did not tell.
func (r *receiver) receive(fd int, p []byte) (n int, wall int64, err error) {
	return r.receiveBy(fd, p, unix.MSG_DONTWAIT)
}

// peek reads like receive and leaves the bytes in the socket.
func (r *receiver) peek(fd int, p []byte) (n int, err error) {
	n, _, err = r.receiveBy(fd, p, unix.MSG_DONTWAIT|unix.MSG_PEEK)
	return n, err
}

func (r *receiver) receiveBy(fd int, p []byte, flags uintptr) (n int, wall int64, err error) {
	r.iov.Base = unsafe.SliceData(p)
	r.iov.SetLen(len(p))
	r.msg.Iov, r.msg.Control = &r.iov, &r.control[0]
	r.msg.SetIovlen(1)

	for {
		r.msg.SetControllen(len(r.control))
		// It never waits, so the scheduler need not know of the call.
		got, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&r.msg)), flags)
		switch errno {
		case 0:
		case unix.EINTR:
			continue
		case unix.EAGAIN:
			return 0, 0, sse.ErrWouldBlock
		default:
			return 0, 0, os.NewSyscallError("recvmsg", errno)
		}
		if got == 0 && len(p) > 0 {
			return 0, 0, io.EOF
		}
		r.left = 1
		wall = r.arrival()
		if int(got) < len(p) {
			r.left = 0
		}
		return int(got), wall, nil
	}
}

// arrival reads the control messages.
func (r *receiver) arrival() (wall int64) {
	b := r.control[:min(int(r.msg.Controllen), len(r.control))]
	for len(b) >= unix.SizeofCmsghdr {
		h := (*unix.Cmsghdr)(unsafe.Pointer(unsafe.SliceData(b)))
		size := int(h.Len)
		if size < unix.SizeofCmsghdr || size > len(b) {
			break
		}
		data := b[unix.CmsgLen(0):size]
		if h.Level == unix.SOL_SOCKET && h.Type == unix.SO_TIMESTAMPNS_NEW && len(data) >= 16 {
			wall = int64(binary.NativeEndian.Uint64(data))*int64(time.Second) +
				int64(binary.NativeEndian.Uint64(data[8:]))
		}
		if h.Level == unix.SOL_TCP && h.Type == unix.TCP_CM_INQ && len(data) >= 4 {
			r.left = int(binary.NativeEndian.Uint32(data))
		}
		b = b[min(unix.CmsgSpace(len(data)), len(b)):]
	}

	return wall
}

// askForArrivals makes the kernel return with each read of a socket when its bytes
// arrived and how many are left, as far as it can.
func askForArrivals(fd int) {
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, 1)
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_INQ, 1)
}

// ownDescriptor takes the socket out of conn, and with it out of the runtime's
// poller, which would otherwise be woken for each event, too. It returns false if
// conn has no descriptor; conn is untouched then.
func ownDescriptor(conn net.Conn) (fd int, ok bool) {
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return 0, false
	}

	raw, err := sc.SyscallConn()
	if err != nil {
		return 0, false
	}

	var failed error
	err = raw.Control(func(theirs uintptr) { fd, failed = unix.FcntlInt(theirs, unix.F_DUPFD_CLOEXEC, 0) })
	if err != nil || failed != nil {
		return 0, false
	}

	_ = conn.Close()
	askForArrivals(fd)
	return fd, true
}
