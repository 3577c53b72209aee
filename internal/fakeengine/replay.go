package fakeengine

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"strings"
)

// log is LogFile: what an engine writes until it serves, and what it writes
// then. A log of an engine that never serves has no second part.
func (c Config) log() (start, rest []byte, err error) {
	if c.LogFile == "" {
		return nil, nil, nil
	}
	text, err := os.ReadFile(c.LogFile)
	if err != nil {
		return nil, nil, err
	}
	if strings.HasSuffix(c.LogFile, ".gz") {
		packed, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil {
			return nil, nil, err
		}
		if text, err = io.ReadAll(packed); err != nil {
			return nil, nil, err
		}
	}

	ready := []byte("Application startup complete.\n")
	at := bytes.LastIndex(text, ready) // each of several API servers says it
	if at < 0 || c.LogRest == 0 {
		return text, nil, nil
	}
	return text[:at+len(ready)], text[at+len(ready):], nil
}

// replay writes the start of LogFile.
func (c Config) replay() error {
	start, _, err := c.log()
	if err != nil {
		return err
	}
	_, err = os.Stderr.Write(start)
	return err
}
