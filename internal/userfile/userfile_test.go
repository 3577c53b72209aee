package userfile

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Nothing that takes the place of a file is waited for, read or written.
func TestOnlyPlainFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		unix.Mkfifo(at("pipe"), 0o600), os.Symlink(at("pipe"), at("link")), os.Symlink("/dev/zero", at("zero")),
		os.WriteFile(at("precious"), []byte("precious"), 0o600), os.Symlink(at("precious"), at("lead")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir) // the address of a socket is short
	socket, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()

	for _, name := range []string{"pipe", "link", "zero", "socket"} {
		if data, err := Read(at(name), 8); err == nil || !strings.Contains(err.Error(), "not a plain file") {
			t.Errorf("Read(%s) = %q, %v, want a refusal", name, data, err)
		}
	}
	if data, err := Read(at("lead"), 8); err != nil || string(data) != "precious" {
		t.Errorf("Read() of a link to a file = %q, %v", data, err)
	}
	if _, err := Read(at("precious"), 7); err == nil || !strings.Contains(err.Error(), "more than the 7 bytes") {
		t.Errorf("Read() of more than the limit = %v", err)
	}

	text := func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }
	for _, name := range []string{"pipe", "link", "zero", "socket", "lead"} {
		if err := Write(at(name), text); err == nil || !strings.Contains(err.Error(), "not a plain file") {
			t.Errorf("Write(%s) = %v, want a refusal", name, err)
		}
	}
	if err := Write(at("precious"), func(io.Writer) error { return io.ErrShortWrite }); err == nil {
		t.Error("Write() = nil, want the error of writing")
	}
	if data, err := os.ReadFile(at("precious")); err != nil || string(data) != "precious" {
		t.Errorf("the file holds %q, %v, want what it held", data, err)
	}
	if err := Write(at("fresh"), text); err != nil {
		t.Error(err)
	}
	if data, err := Read(at("fresh"), 8); err != nil || string(data) != "new" {
		t.Errorf("Read() of what was written = %q, %v", data, err)
	}
}

// What the shell gives as a file is read and written: bench import <(command).
func TestFilesOfTheShell(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		_, _ = io.WriteString(w, "piped")
		_ = w.Close()
	}()
	if data, err := Read(fmt.Sprintf("/proc/self/fd/%d", r.Fd()), 8); err != nil || string(data) != "piped" {
		t.Errorf("Read() of a pipe of the shell = %q, %v", data, err)
	}
	if err := Write("/dev/null", func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }); err != nil {
		t.Errorf("Write(/dev/null) = %v", err)
	}
	if info, err := os.Lstat("/dev/null"); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		t.Fatalf("/dev/null is %v now, %v", info.Mode(), err)
	}
}
