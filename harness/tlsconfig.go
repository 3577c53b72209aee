package harness

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"benchrig/results"
)

// TLSConfig says which certificates to believe: those of the authorities in a
// PEM file, whose content is returned too, any with insecure, else those of the
// system's authorities (nil).
func TLSConfig(ca string, insecure bool) (config *tls.Config, authorities []byte, err error) {
	switch {
	case insecure:
		return &tls.Config{InsecureSkipVerify: true}, nil, nil
	case ca == "":
		return nil, nil, nil
	}
	authorities, err = os.ReadFile(ca)
	if err != nil {
		return nil, nil, results.Failf(results.FailBadRecipe, "read tls.ca: %v", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authorities) {
		return nil, nil, results.Failf(results.FailBadRecipe, "read tls.ca %s: %v", ca, fmt.Errorf("no PEM certificate in it"))
	}
	return &tls.Config{RootCAs: pool}, authorities, nil
}
