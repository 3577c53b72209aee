package calibrate

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// feeder serves paced streams from one thread: it accepts, reads requests and
// writes tokens when they are due, all in one epoll loop, so that it costs as
// little as a server can.
type feeder struct {
	ep, listener int
	streams      map[int32]*stream
	due          dueQueue
	scratch      []byte
	control      [128]byte
	pace         pace // of requests that name none
	served       []*served
	certified    *tls.Config // of connections that begin with a handshake
}

// feed serves the streams that requests ask for in their path (see pace) on
// loopback until ctx ends, by HTTP and HTTPS on one port. It calls ready once with the address.
func feed(ctx context.Context, ready func(addr string)) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	certified, err := ownCertificate()
	if err != nil {
		return fmt.Errorf("make feeder's certificate: %w", err)
	}
	f := &feeder{streams: map[int32]*stream{}, scratch: make([]byte, 64<<10), certified: certified}
	addr, err := f.open()
	if err != nil {
		return fmt.Errorf("open feeder: %w", err)
	}
	defer f.close()

	ready(addr)
	events := make([]unix.EpollEvent, 256)
	for ctx.Err() == nil {
		if err := f.wait(); err != nil {
			return fmt.Errorf("wait for requests: %w", err)
		}
		n, err := unix.EpollWait(f.ep, events, 0)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("wait for requests: %w", err)
		}
		for _, e := range events[:max(n, 0)] {
			f.handle(e)
		}
		f.writeDue()
	}

	return nil
}

// open listens on a free port of loopback.
func (f *feeder) open() (addr string, err error) {
	if f.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return "", err
	}

	f.listener, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		_ = unix.Close(f.ep)
		return "", err
	}

	err = errors.Join(
		unix.Bind(f.listener, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}),
		unix.Listen(f.listener, 1<<14),
		f.watch(unix.EPOLL_CTL_ADD, f.listener, unix.EPOLLIN),
	)

	if err == nil {
		var sa unix.Sockaddr
		if sa, err = unix.Getsockname(f.listener); err == nil {
			return fmt.Sprintf("127.0.0.1:%d", sa.(*unix.SockaddrInet4).Port), nil
		}
	}

	f.close()
	return "", err
}

func (f *feeder) close() {
	for _, s := range f.streams {
		f.drop(s)
	}
	_ = unix.Close(f.listener)
	_ = unix.Close(f.ep)
}

func (f *feeder) watch(op, fd int, events uint32) error {
	return unix.EpollCtl(f.ep, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

// wait sleeps until a socket is ready or a token is due, at most 50 ms.
func (f *feeder) wait() error {
	rest := 50 * time.Millisecond
	if len(f.due) > 0 {
		rest = min(rest, time.Duration(f.due[0].due-monotonic()))
	}
	if rest <= 0 {
		return nil
	}
	timeout := unix.NsecToTimespec(int64(rest))
	_, err := unix.Ppoll([]unix.PollFd{{Fd: int32(f.ep), Events: unix.POLLIN}}, &timeout, nil)
	if errors.Is(err, unix.EINTR) {
		return nil
	}
	return err
}

func (f *feeder) handle(e unix.EpollEvent) {
	if int(e.Fd) == f.listener {
		f.accept()
		return
	}

	s := f.streams[e.Fd]
	if s == nil {
		return
	}
	if e.Events&(unix.EPOLLIN|unix.EPOLLHUP|unix.EPOLLERR) != 0 && !f.read(s) {
		f.drop(s)
		return
	}
	if e.Events&unix.EPOLLOUT != 0 {
		f.step(s)
	}
}

func (f *feeder) accept() {
	for {
		fd, _, err := unix.Accept4(f.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			return
		}
		s := &stream{fd: fd, place: -1}
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, 1)
		if unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1) != nil ||
			f.watch(unix.EPOLL_CTL_ADD, fd, unix.EPOLLIN) != nil {
			_ = unix.Close(fd)
			continue
		}
		f.streams[int32(fd)] = s
	}
}

func (f *feeder) drop(s *stream) {
	f.due.remove(s)
	delete(f.streams, int32(s.fd))
	if s.secure != nil {
		s.secure.close()
	}
	_ = unix.Close(s.fd)
}

// read takes in a request. It reports false when the connection is over.
func (f *feeder) read(s *stream) bool {
	n, controls, _, _, err := unix.Recvmsg(s.fd, f.scratch, f.control[:], unix.MSG_DONTWAIT)
	switch {
	case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR):
		return true
	case err != nil || n <= 0:
		return false
	}

	now := monotonic()
	text, err := f.decrypted(s, f.scratch[:n])
	if err != nil {
		return false
	}
	whole, err := s.request(text)
	if err != nil {
		return false
	}
	if !whole {
		return true
	}
	if body, ok := f.reply(s.target); ok {
		return s.answer([]byte(plainAnswer(body)))
	}
	if s.pace, err = parsePace(s.target); err != nil && f.pace.tokens == 0 {
		return false
	}
	if err != nil {
		s.pace = f.pace
	}

	s.record = &served{arrived: arrival(f.control[:controls], now), writes: make([]int64, 0, s.pace.tokens)}
	f.served = append(f.served, s.record)
	s.begin(now)
	f.due.push(s)

	return true
}

// decrypted is what came on a stream, which the first byte shows to be encrypted or not.
func (f *feeder) decrypted(s *stream, b []byte) ([]byte, error) {
	if s.secure == nil && len(s.in) == 0 && b[0] == helloByte {
		s.secure = newSecure(f.certified)
	}
	if s.secure == nil {
		return b, nil
	}

	text, err := s.secure.take(b)
	if made := s.secure.made(); len(made) > 0 && !s.send(made) {
		return nil, errRequest
	}
	return text, err
}

// writeDue writes every token whose time has come.
func (f *feeder) writeDue() {
	for len(f.due) > 0 && f.due[0].due <= monotonic() {
		f.step(f.due[0])
	}
}

// step writes what stream s owes now and queues it for the next token.
func (f *feeder) step(s *stream) {
	f.due.remove(s)
	switch s.write() {
	case writeMore:
		f.due.push(s)
		s.unblock(f)
	case writeFull:
		s.block(f)
	case writeDone:
		s.unblock(f)
	case writeBroken:
		f.drop(s)
	}
}
