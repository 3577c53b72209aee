package live

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/results/store"
)

// What is shown of a server's log.
const (
	logBytes = 512 << 10
	logLines = 4000
)

// serverLogOf is the end of the log of a life's first server that has one, and
// its place: a running one's by its last bytes, that of an ended one by reading
// all of it. hide takes out secrets; nil: there are none.
func serverLogOf(folder *store.Folder, life string, hide func(string) string) (lines []string, path string, err error) {
	plain := folder.PlainServerLogs(life)
	if len(plain) > 0 {
		path = plain[len(plain)-1]
		lines, err = lastBytes(path)
	} else {
		path = filepath.Join(folder.LifeDir(life), store.ServerLogName(0)+".zst")
		lines, err = lastOf(folder, life)
	}

	if hide != nil {
		lines = secrets.Lines(lines, hide)
	}
	for i := range lines {
		lines[i] = printable(lines[i])
	}

	return lines, path, err
}

func lastBytes(path string) ([]string, error) {
	file, err := store.OpenPlain(path)
	if err != nil {
		return nil, fmt.Errorf("read server log: %w", err)
	}
	defer file.Close()

	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read server log: %w", err)
	}

	from := max(0, info.Size()-logBytes)
	lines, err := tail(io.NewSectionReader(file, from, info.Size()-from))
	if from > 0 && len(lines) > 1 {
		lines = lines[1:] // its beginning may be cut off
	}

	return lines, err
}

func lastOf(folder *store.Folder, life string) ([]string, error) {
	log, err := folder.OpenServerLog(life, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("no log: bench did not start the server, or the server has written nothing yet")
	}
	if err != nil {
		return nil, fmt.Errorf("read server log: %w", err)
	}
	defer log.Close()
	return tail(log)
}

// tail are the last lines of what is read, long ones cut.
func tail(r io.Reader) ([]string, error) {
	const longest = 4096
	in := bufio.NewReaderSize(r, 64<<10)
	var lines []string
	for {
		piece, err := in.ReadSlice('\n') // a line that is longer than the buffer counts as several
		if text := clean(string(piece)); text != "" {
			lines = append(lines, secrets.Known().Beginning(text, longest))
		}
		if len(lines) > 2*logLines {
			lines = append(lines[:0], lines[len(lines)-logLines:]...)
		}
		if errors.Is(err, io.EOF) {
			return lines[max(0, len(lines)-logLines):], nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return lines, fmt.Errorf("read server log: %w", err)
		}
	}
}

// clean is what is left on a terminal of a line that draws over itself.
func clean(text string) string {
	end := len(text)
	for end > 0 && (text[end-1] == '\n' || text[end-1] == '\r') {
		end--
	}
	text = text[:end]
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] == '\r' {
			return text[i+1:]
		}
	}
	return text
}
