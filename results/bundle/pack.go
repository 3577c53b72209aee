package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// pack writes one file of the run folder into the archive: byte for byte where
// nothing is to be changed, else as text without what is taken out.
func (p *packer) pack(name string) error {
	found := &survey{}
	in, err := openText(p.path(name))
	var counts map[string]int
	if err == nil {
		counts, err = p.rewrite(name, io.TeeReader(in, found), io.Discard)
		err = closing(in, err)
	}
	if err != nil {
		p.leaveOut(name, err)
		return nil
	}

	tooLong := isLog(name) && found.bytes > p.options.MaxLog
	switch {
	case len(counts) > 0 && isPrompts(name):
		p.index.LeftOut = append(p.index.LeftOut, LeftOut{name, "the prompts hold what looks like a " + some(counts)})
		return nil
	case len(counts) > 0 && found.binary:
		p.index.LeftOut = append(p.index.LeftOut,
			LeftOut{name, "not text, and it holds what looks like a " + some(counts)})
		return nil
	case len(counts) == 0 && !tooLong && (name != results.ManifestName || len(p.rehashed) == 0):
		return p.copyMember(name)
	}

	p.redacted(name, counts)
	return p.changedMember(name, tooLong, found.bytes)
}

func some(counts map[string]int) string {
	for what := range counts {
		return what
	}
	return "secret"
}

// copyMember packs a file as it is.
func (p *packer) copyMember(name string) error {
	f, err := store.OpenPlain(p.path(name))
	if err != nil {
		return err
	}
	return closing(f, p.fill(name, func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	}))
}

// changedMember packs a file without secrets, and a long log without its middle.
func (p *packer) changedMember(name string, tooLong bool, size int64) error {
	in, err := openText(p.path(name))
	if err != nil {
		return err
	}

	return closing(in, p.fill(name, func(w io.Writer) error {
		out, done := compressor(name, w)
		var short *shortener
		target := out
		if tooLong {
			short = &shortener{out: out, head: p.options.MaxLog / 2, tail: p.options.MaxLog / 2}
			target = short
			p.index.LeftOut = append(p.index.LeftOut,
				LeftOut{name, fmt.Sprintf("the middle of %d bytes: %d are kept", size, p.options.MaxLog)})
		}
		if _, err := p.rewrite(name, in, target); err != nil {
			return err
		}
		if short != nil {
			if err := short.finish(); err != nil {
				return err
			}
		}
		return done()
	}))
}

// fill writes a member and notes its size and hash.
func (p *packer) fill(name string, write func(io.Writer) error) error {
	w, err := p.member(name)
	if err != nil {
		return err
	}
	hash := sha256.New()
	size := &survey{}
	if err := write(io.MultiWriter(w, hash, size)); err != nil {
		return err
	}
	p.index.Members = append(p.index.Members, Member{
		Name: name, Bytes: size.bytes,
		SHA256: hex.EncodeToString(hash.Sum(nil)),
	})
	return nil
}

// survey looks at what goes by.
type survey struct {
	bytes  int64
	binary bool // it has a zero byte: no text
}

func (s *survey) Write(data []byte) (int, error) {
	s.bytes += int64(len(data))
	s.binary = s.binary || bytes.IndexByte(data, 0) >= 0
	return len(data), nil
}

// compressor writes what the name says: zstd, or as it is.
func compressor(name string, w io.Writer) (io.Writer, func() error) {
	if !strings.HasSuffix(name, compressed) {
		return w, func() error { return nil }
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)) // one: the bytes must not depend on the machine
	if err != nil {
		return w, func() error { return err }
	}
	return z, z.Close
}
