package bundle

import (
	"archive/zip"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a bundle may have. Text shrinks to a hundredth at best; an archive that
// promises more is made to fill a disk.
const (
	maxIndex   = 64 << 20
	maxMembers = 500_000
	maxName    = 512
	maxGrowth  = 300
	freeGrowth = 1 << 30 // that any archive may hold
)

// admit takes the members of an archive, or says why it is not a bundle.
func (r *Reader) admit(files []*zip.File, size int64) error {
	if len(files) > maxMembers {
		return fmt.Errorf("%d members, more than the %d that a bundle may have", len(files), maxMembers)
	}

	var packed, total uint64
	for _, f := range files {
		if err := memberError(f); err != nil {
			return err
		}
		if _, twice := r.files[f.Name]; twice {
			return fmt.Errorf("member %q stands twice", f.Name)
		}
		r.files[f.Name] = f
		if packed += f.CompressedSize64; packed > uint64(size) {
			return errors.New("its members overlap: together they are longer than the archive")
		}
		if total += f.UncompressedSize64; total > max(freeGrowth, maxGrowth*uint64(size)) ||
			f.UncompressedSize64 > total {
			return fmt.Errorf("unpacked it would have %d bytes or more, from an archive of %d: it is not read", total,
				size)
		}
	}

	for name := range r.files {
		for at, c := range name {
			if _, is := r.files[name[:at]]; c == '/' && is {
				return fmt.Errorf("member %q is a file and a folder", name[:at])
			}
		}
	}

	return nil
}

func memberError(f *zip.File) error {
	const encrypted = 1
	switch err := nameError(f.Name); {
	case err != nil:
		return err
	case !f.Mode().IsRegular():
		return fmt.Errorf("member %q is not a regular file (%s)", f.Name, f.Mode())
	case f.Flags&encrypted != 0:
		return fmt.Errorf("member %q is encrypted", f.Name)
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return fmt.Errorf("member %q is compressed by method %d, want 0 or 8", f.Name, f.Method)
	}
	return nil
}

// nameError refuses what is not a plain path within a folder, on any system.
func nameError(name string) error {
	switch {
	case len(name) > maxName:
		return fmt.Errorf("a name of %d bytes", len(name))
	case !fs.ValidPath(name) || name == ".":
		return fmt.Errorf("member %q: not a name inside the folder", name)
	case strings.ContainsAny(name, "\\:") || !utf8.ValidString(name) ||
		strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }):
		return fmt.Errorf("member %q: characters that no file of a run has", name)
	}
	return nil
}

// matchIndex holds the index to the archive: each lists what the other does.
func (r *Reader) matchIndex() error {
	switch {
	case r.Index.Format > FormatVersion:
		return fmt.Errorf("it has version %d, newer than %d, the newest this bench knows; use a newer bench",
			r.Index.Format, FormatVersion)
	case r.Index.Format < 1:
		return fmt.Errorf("%s has no bundle_version: it is not a bundle", IndexName)
	}

	for _, m := range r.Index.Members {
		f, there := r.files[m.Name]
		_, twice := r.hashes[m.Name]
		switch {
		case twice:
			return fmt.Errorf("the index lists %q twice", m.Name)
		case !there || m.Name == IndexName:
			return fmt.Errorf("the index lists %q, which the archive lacks", m.Name)
		case m.Bytes < 0 || f.UncompressedSize64 != uint64(m.Bytes):
			return fmt.Errorf("%s: %d bytes in the archive, %d by the index", m.Name, f.UncompressedSize64, m.Bytes)
		}
		r.hashes[m.Name] = m
	}

	if len(r.hashes) != len(r.files)-1 {
		for name := range r.files {
			if _, listed := r.hashes[name]; !listed && name != IndexName {
				return fmt.Errorf("member %q is not in the index", name)
			}
		}
	}

	return nil
}
