package step

import (
	"crypto/tls"
	"os"

	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/results"
)

// TLSConfig says which certificates to believe: those of the authorities in a
// PEM file, whose content is returned too, any with insecure, else those of the
// system's authorities (nil).
func TLSConfig(ca string, insecure bool) (config *tls.Config, authorities []byte, err error) {
	if ca != "" && !insecure {
		if authorities, err = os.ReadFile(ca); err != nil {
			return nil, nil, results.Failf(results.FailBadRecipe, "read tls.ca: %v", err)
		}
	}
	config, ok := load.Trust(authorities, insecure)
	if !ok {
		return nil, nil, results.Failf(results.FailBadRecipe, "read tls.ca %s: no PEM certificate in it", ca)
	}
	return config, authorities, nil
}
