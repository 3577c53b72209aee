package calibrate

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"time"
)

// helloByte begins every TLS connection, and no HTTP request.
const helloByte = 0x16

// secure is the TLS of one connection of a feeder. It holds no socket: the loop gives it
// the bytes that came and writes those that it makes, so that one thread serves all.
type secure struct {
	net.Conn // nil; what tls does not call

	tls    *tls.Conn
	in     bytes.Buffer // came and was not read
	out    []byte       // made and was not taken
	shaken bool         // the handshake is over

	// While the handshake lasts it runs in a goroutine, which takes turns with the loop.
	resume, waits chan struct{} // more bytes came; more are needed
	over          chan error
}

func newSecure(config *tls.Config) *secure {
	s := &secure{resume: make(chan struct{}), waits: make(chan struct{}), over: make(chan error, 1)}
	s.tls = tls.Server(s, config)
	go func() { s.over <- s.tls.Handshake() }() //nolint:noctx // close ends it
	<-s.waits
	return s
}

// take takes bytes that came, and returns what they say to the feeder.
func (s *secure) take(b []byte) (plain []byte, err error) {
	s.in.Write(b)
	if !s.shaken {
		s.resume <- struct{}{}
		select {
		case <-s.waits:
			return nil, nil
		case err := <-s.over:
			if s.shaken = true; err != nil {
				return nil, err
			}
		}
	}

	for {
		var p [4 << 10]byte
		n, err := s.tls.Read(p[:])
		plain = append(plain, p[:n]...)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return plain, nil
		}
		if err != nil {
			return plain, err
		}
	}
}

// seal returns the records that hold b, after what is still to be written.
func (s *secure) seal(b []byte) ([]byte, error) {
	_, err := s.tls.Write(b)
	return s.made(), err
}

// made takes the bytes that are to be written.
func (s *secure) made() []byte {
	b := s.out
	s.out = nil
	return b
}

// close ends a handshake that is not over.
func (s *secure) close() {
	if !s.shaken {
		close(s.resume)
		<-s.over //nolint:errcheck // it was given up
	}
}

// Read implements net.Conn. Nothing to read is an error of time, which tls takes as
// passing.
func (s *secure) Read(p []byte) (int, error) {
	for s.in.Len() == 0 {
		if s.shaken {
			return 0, os.ErrDeadlineExceeded
		}
		s.waits <- struct{}{}
		if _, ok := <-s.resume; !ok {
			return 0, io.EOF
		}
	}
	return s.in.Read(p)
}

// Write implements net.Conn.
func (s *secure) Write(p []byte) (int, error) {
	s.out = append(s.out, p...)
	return len(p), nil
}

// Close implements net.Conn.
func (s *secure) Close() error { return nil }

// SetWriteDeadline implements net.Conn.
func (s *secure) SetWriteDeadline(time.Time) error { return nil }

// ownCertificate is a certificate that nobody has signed, for loopback.
func ownCertificate() (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12,
	}, nil
}
