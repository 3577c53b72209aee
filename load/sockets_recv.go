package load

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// errWouldBlock says that nothing is there to be read yet. Only a body that is
// read in steps returns it (see reply.drive).
var errWouldBlock = errors.New("nothing to read yet")

// receiver reads a socket by recvmsg, which tells with the bytes when the
// newest of them arrived and whether more are waiting.
type receiver struct {
	msg     unix.Msghdr
	iov     unix.Iovec
	control [128]byte
	told    bool // the kernel tells what is waiting
}

// prepare asks the kernel for arrival times and for the number of bytes that
// wait. A kernel that knows neither still serves: readings are taken instead.
func (r *receiver) prepare(fd int) {
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, 1)
	r.told = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_INQ, 1) == nil
}

// receive reads once without waiting. wall is the arrival of the newest bytes,
// 0 if the kernel did not say. empty is true if nothing is left, the end of
// the connection included: then the next bytes or the end will wake a waiter.
func (r *receiver) receive(fd uintptr, p []byte) (n int, wall int64, empty bool, err error) {
	r.iov.Base = unsafe.SliceData(p)
	r.iov.SetLen(len(p))
	r.msg.Iov, r.msg.Control = &r.iov, &r.control[0]
	r.msg.SetIovlen(1)
	for {
		r.msg.SetControllen(len(r.control))
		// It never waits, so the scheduler need not be told of the call.
		got, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&r.msg)), unix.MSG_DONTWAIT)
		switch errno {
		case 0:
		case unix.EINTR:
			continue
		case unix.EAGAIN:
			return 0, 0, true, errWouldBlock
		default:
			return 0, 0, true, os.NewSyscallError("recvmsg", errno)
		}
		if got == 0 && len(p) > 0 {
			return 0, 0, true, io.EOF
		}
		wall, waiting := r.controls()
		return int(got), wall, waiting == 0, nil
	}
}

// controls reads the control messages: the arrival time, and the bytes that
// wait, below 0 if unknown. A connection that has ended counts as one byte.
func (r *receiver) controls() (wall int64, waiting int) {
	waiting = -1
	b := r.control[:min(int(r.msg.Controllen), len(r.control))]
	for len(b) >= unix.SizeofCmsghdr {
		h := (*unix.Cmsghdr)(unsafe.Pointer(unsafe.SliceData(b)))
		size := int(h.Len)
		if size < unix.SizeofCmsghdr || size > len(b) {
			break
		}
		data := b[unix.CmsgLen(0):size]
		switch {
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SO_TIMESTAMPNS_NEW && len(data) >= 16:
			wall = int64(binary.NativeEndian.Uint64(data))*int64(time.Second) + int64(binary.NativeEndian.Uint64(data[8:]))
		case h.Level == unix.IPPROTO_TCP && h.Type == unix.TCP_INQ && len(data) >= 4 && r.told:
			waiting = int(int32(binary.NativeEndian.Uint32(data)))
		}
		b = b[min(unix.CmsgSpace(len(data)), len(b)):]
	}
	return wall, waiting
}

// rawSocket is the descriptor behind conn, nil if it has none.
func rawSocket(conn net.Conn) syscall.RawConn {
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}
