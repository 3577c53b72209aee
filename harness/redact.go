package harness

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/benchrig/bench/launchers/recipe"
)

// redactLogs takes the secrets out of the logs of a life that has ended:
// engines print their arguments. It is for folders that are passed on; while
// the server runs its log holds what it wrote.
func redactLogs(dir string, secrets []string) error {
	if len(secrets) == 0 {
		return nil
	}
	logs, err := filepath.Glob(filepath.Join(dir, "server-*.log"))
	for _, log := range logs {
		err = errors.Join(err, redactFile(log, recipe.Redactor(secrets)))
	}
	return err
}

func redactFile(path string, hide func(string) string) error {
	in, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("redact %s: %w", path, err)
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(path), ".redact-*")
	if err != nil {
		return fmt.Errorf("redact %s: %w", path, err)
	}
	defer func() { _ = os.Remove(out.Name()) }() // gone already once renamed
	changed, err := copyLines(out, in, hide)
	if err := errors.Join(err, out.Chmod(0o644), out.Close()); err != nil {
		return fmt.Errorf("redact %s: %w", path, err)
	}
	if !changed {
		return nil
	}
	return os.Rename(out.Name(), path)
}

// copyLines copies line by line through hide and says whether a line changed.
func copyLines(w io.Writer, r io.Reader, hide func(string) string) (changed bool, err error) {
	in, out := bufio.NewReader(r), bufio.NewWriter(w)
	for {
		line, readErr := in.ReadString('\n')
		hidden := hide(line)
		changed = changed || hidden != line
		if _, err := out.WriteString(hidden); err != nil {
			return changed, err
		}
		if errors.Is(readErr, io.EOF) {
			return changed, out.Flush()
		}
		if readErr != nil {
			return changed, readErr
		}
	}
}
