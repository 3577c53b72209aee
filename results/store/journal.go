package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/results"
)

// Journal appends events to journal.jsonl. An event is on disk when Append
// returns nil. It is safe for concurrent use.
type Journal struct {
	mu   sync.Mutex // guards what follows
	f    *os.File
	seq  int   // of the last event written
	size int64 // of the whole lines
}

// OpenJournal opens or makes the journal at path. What a killed writer left of
// a last line is closed by a line end and kept: readers report it as a bad line.
func OpenJournal(path string) (*Journal, error) {
	return openJournal(filepath.Dir(path), filepath.Base(path))
}

func openJournal(root, name string) (*Journal, error) {
	path := filepath.Join(root, name)
	f, err := inside.Open(root, name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	j := &Journal{f: f}
	if err := j.recover(); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("open journal %s: %w", path, err)
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("open journal: %w", err)
	}
	return j, nil
}

// recover finds the end of the journal and the number of its last event.
func (j *Journal) recover() error {
	data, err := io.ReadAll(j.f)
	if err != nil {
		return err
	}

	if len(data) > 0 && data[len(data)-1] != '\n' {
		if _, err := j.f.WriteAt([]byte("\n"), int64(len(data))); err != nil {
			return err
		}
		data = append(data, '\n')
	}

	for line, err := range ReadJournal(bytes.NewReader(data)) {
		if err != nil {
			return err
		}
		if line.Bad == "" {
			j.seq = max(j.seq, line.Event.Seq)
		}
	}

	j.size = int64(len(data))
	return nil
}

// Append gives e the next number, stamps it if it has no time, writes it as
// one line and waits until it is on disk. After an error the journal is as
// before and may be tried again.
func (j *Journal) Append(e results.Event) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.f == nil {
		return errors.New("append to journal: it is closed")
	}

	e.Seq = j.seq + 1
	if e.Time.IsZero() {
		e.Time = time.Now()
	}

	e.Time = e.Time.UTC().Round(0)
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("append %s to journal: %w", e.Kind, err)
	}

	line = append(secrets.Known().JSON(line), '\n')
	_, err = j.f.WriteAt(line, j.size)
	if err == nil {
		err = j.f.Sync()
	}

	if err != nil {
		_ = j.f.Truncate(j.size) // a part of a line must not stand before the next one
		return fmt.Errorf("append %s to journal: %w", e.Kind, err)
	}

	j.seq, j.size = e.Seq, j.size+int64(len(line))
	return nil
}

// Close ends writing.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.f == nil {
		return nil
	}
	err := j.f.Close()
	j.f = nil
	if err != nil {
		return fmt.Errorf("close journal: %w", err)
	}
	return nil
}
