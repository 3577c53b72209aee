package bundle

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/benchrig/bench/internal/userfile"
	"github.com/benchrig/bench/results"
)

// Reader reads a bundle, whoever made it. What it gives out agrees with the
// index; that the index is its maker's nobody can tell.
type Reader struct {
	Index Index

	files  map[string]*zip.File
	hashes map[string]Member
	closer io.Closer
}

// Open opens a bundle; the caller closes it.
func Open(path string) (*Reader, error) {
	f, err := userfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read bundle: %w", err)
	}

	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a file")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read bundle %s: %w", path, err), f.Close())
	}

	r, err := newReader(f, info.Size())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read bundle %s: %w", path, err), f.Close())
	}

	r.closer = f
	return r, nil
}

// newReader looks at the directory and the index of a bundle, and refuses what
// no bundle has: names that lead elsewhere, links, names that stand twice, more
// than the archive can hold.
func newReader(in io.ReaderAt, size int64) (*Reader, error) {
	archive, err := zip.NewReader(in, size)
	if err != nil {
		return nil, fmt.Errorf("not a complete zip archive: %w", err)
	}

	r := &Reader{files: map[string]*zip.File{}, hashes: map[string]Member{}}
	if err := r.admit(archive.File, size); err != nil {
		return nil, err
	}

	text, err := r.content(IndexName, maxIndex)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &r.Index); err != nil {
		return nil, fmt.Errorf("%s: %w", IndexName, err)
	}

	if err := r.matchIndex(); err != nil {
		return nil, err
	}
	return r, r.checkManifest()
}

// maxManifest bounds the manifest: that of a run of 100,000 steps has a tenth.
const maxManifest = 256 << 20

// checkManifest refuses a manifest that plans a step twice: whoever reads the run
// would go through the same files again and again.
func (r *Reader) checkManifest() error {
	f, there := r.files[results.ManifestName]
	switch {
	case !there:
		return nil
	case f.UncompressedSize64 > maxManifest:
		return fmt.Errorf("%s has %d bytes, more than the %d that one may have", results.ManifestName,
			f.UncompressedSize64, int64(maxManifest))
	}

	in, err := f.Open()
	if err != nil {
		return fmt.Errorf("%s: %w", results.ManifestName, err)
	}
	defer func() { _ = in.Close() }() // it was only read

	if id := plannedTwice(json.NewDecoder(in)); id != "" {
		return fmt.Errorf("%s plans step %q twice", results.ManifestName, id)
	}
	return nil
}

// plannedTwice is the first step that a manifest plans twice; "" if there is none,
// or the text is not a manifest, which others say.
func plannedTwice(text *json.Decoder) string {
	seen := map[string]bool{}
	for depth, planned := 0, false; ; {
		token, err := text.Token()
		if err != nil {
			return ""
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 1 {
			planned = token == "planned"
		}
		if !planned || depth != 2 {
			continue
		}

		for text.More() {
			var step struct {
				ID string `json:"id"`
			}
			if text.Decode(&step) != nil {
				return ""
			}
			if seen[step.ID] {
				return step.ID
			}
			seen[step.ID] = true
		}
		planned = false
	}
}

// Close closes the file of a bundle that Open opened.
func (r *Reader) Close() error {
	if r.closer == nil {
		return nil
	}
	return r.closer.Close()
}

// Check reads every member and compares it with the index.
func (r *Reader) Check(ctx context.Context) error {
	for _, m := range r.Index.Members {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.copyTo(io.Discard, m); err != nil {
			return err
		}
	}
	return nil
}

// Extract writes the members that are wanted below dir, which exists, and
// checks each. Nothing is overwritten.
func (r *Reader) Extract(ctx context.Context, dir string, wanted func(name string) bool) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("unpack bundle: %w", err)
	}
	defer func() { _ = root.Close() }() // only opened for its names

	for _, m := range r.Index.Members {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !wanted(m.Name) {
			continue
		}
		if err := r.extract(root, m); err != nil {
			return fmt.Errorf("unpack bundle: %w", err)
		}
	}

	return nil
}

func (r *Reader) extract(root *os.Root, m Member) error {
	name := filepath.FromSlash(m.Name)
	if parent := filepath.Dir(name); parent != "." {
		if err := root.MkdirAll(parent, 0o777); err != nil {
			return err
		}
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	return closing(f, r.copyTo(f, m))
}

func (r *Reader) content(name string, limit int64) ([]byte, error) {
	file, ok := r.files[name]
	if !ok {
		return nil, fmt.Errorf("it has no %s: it is not a bundle", name)
	}
	if file.UncompressedSize64 > uint64(limit) {
		return nil, fmt.Errorf("%s: %d bytes, more than the %d that are read", name, file.UncompressedSize64, limit)
	}

	in, err := file.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}

	text, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err := closing(in, err); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}

	return text, nil
}

// copyTo copies a member and checks its size and hash on the way.
func (r *Reader) copyTo(w io.Writer, m Member) error {
	in, err := r.files[m.Name].Open()
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}

	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, hash), io.LimitReader(in, m.Bytes+1))
	if err := closing(in, err); err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}

	switch {
	case n != m.Bytes:
		return fmt.Errorf("%s: it has another length than the %d bytes of the index", m.Name, m.Bytes)
	case hex.EncodeToString(hash.Sum(nil)) != m.SHA256:
		return fmt.Errorf("%s: its SHA-256 is not that of the index: it was changed", m.Name)
	}

	return nil
}
