package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"
)

// A folder that cannot be written to is a full disk; a limit of this process or an error
// of bench is not.
func TestWriteFailure(t *testing.T) {
	for _, c := range []struct {
		err  error
		want FailureClass
	}{
		{&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, FailDisk},
		{fmt.Errorf("write journal: %w", syscall.EDQUOT), FailDisk},
		{errors.Join(errors.New("close"), syscall.EIO), FailDisk},
		{syscall.EROFS, FailDisk},
		{&fs.PathError{Op: "write", Path: "x", Err: syscall.EFBIG}, FailDisk},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.ESTALE}, FailDisk},
		{&os.LinkError{Op: "rename", Old: "x", New: "y", Err: syscall.ENOENT}, FailDisk},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES}, FailDisk},
		{fmt.Errorf("a writer of its own: %w", fs.ErrClosed), FailInternal},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.EMFILE}, FailOpenFiles},
		{fmt.Errorf("open: %w", syscall.ENFILE), FailOpenFiles},
		{errors.New("other"), FailInternal},
		{Failf(FailDataset, "no prompt"), FailDataset},
	} {
		if got := WriteFailure(c.err); got.Class != c.want {
			t.Errorf("WriteFailure(%v) is %s, want %s", c.err, got.Class, c.want)
		}
	}
}
