// Package executable writes the small programs that tests put in place of real
// ones. In goes a path and a text, out comes a file that can be run at once. It
// runs nothing.
package executable

import (
	"os"
	"syscall"
)

// Write writes an executable file. No process is started meanwhile: a child
// that is forked while the file is open for writing inherits the descriptor,
// and until it has called exec the kernel refuses to run the file (ETXTBSY,
// golang/go#22315).
func Write(path, text string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()

	return os.WriteFile(path, []byte(text), 0o755)
}
