package load

import (
	"crypto/tls"
	"crypto/x509"
)

// Trust says which certificates to believe: any with insecure, else those of
// the authorities in PEM, else (nil) those of the system's. It is false of a text
// that has no certificate in it, by which nobody is believed.
func Trust(authorities []byte, insecure bool) (*tls.Config, bool) {
	switch {
	case insecure:
		return &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, true //nolint:gosec // asked for by the user
	case authorities == nil:
		return nil, true
	}
	roots := x509.NewCertPool()
	ok := roots.AppendCertsFromPEM(authorities)
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, ok
}
