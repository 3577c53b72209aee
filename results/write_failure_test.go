package results

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

// Only what the file system says of itself is a full disk.
func TestWriteFailure(t *testing.T) {
	for _, c := range []struct {
		err  error
		want FailureClass
	}{
		{&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, FailDisk},
		{fmt.Errorf("write journal: %w", syscall.EDQUOT), FailDisk},
		{errors.Join(errors.New("close"), syscall.EIO), FailDisk},
		{syscall.EROFS, FailDisk},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.EMFILE}, FailOpenFiles},
		{fmt.Errorf("open: %w", syscall.ENFILE), FailOpenFiles},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES}, FailInternal},
		{errors.New("other"), FailInternal},
		{Failf(FailDataset, "no prompt"), FailDataset},
	} {
		if got := WriteFailure(c.err); got.Class != c.want {
			t.Errorf("WriteFailure(%v) is %s, want %s", c.err, got.Class, c.want)
		}
	}
}
