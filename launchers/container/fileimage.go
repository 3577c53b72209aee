package container

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/benchrig/bench/results"
)

// FileImage says which image an engine without a daemon enters: a file, such as
// .sif and .sqsh, by a hash of its header and size, as such files have 10 GB; a
// folder that ch-image made by its description. Nil for what is neither, such
// as docker://NAME.
func (o Options) FileImage() *results.ImageInfo {
	info, err := os.Stat(o.Image)
	if err != nil {
		return nil
	}

	path, size := o.Image, info.Size()
	if info.IsDir() {
		path, size = filepath.Join(path, "ch", "metadata.json"), 0
	}
	header := header(path)
	if header == nil {
		return nil
	}
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64(header, uint64(size)))

	return &results.ImageInfo{
		Name: o.Image, ID: "sha256:" + hex.EncodeToString(sum[:]), Labels: map[string]string{},
	}
}

// header is the beginning of a plain file, in which image files have an id or the
// time at which they were made; nil if it cannot be read.
func header(path string) []byte {
	const most = 32 << 10 // bytes
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()

	text := make([]byte, most)
	n, err := io.ReadFull(file, text)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil
	}

	return text[:n]
}
