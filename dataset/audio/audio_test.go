package audio

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"github.com/benchrig/bench/dataset/prng"
)

func TestMake(t *testing.T) {
	one := Make(prng.NewPCG64(7), Rate/2)
	if len(one) != Size(Rate/2) || len(one) != 44+16_000 {
		t.Errorf("half a second has %d bytes, want 16044", len(one))
	}
	if s, err := Seconds(one); err != nil || s != 0.5 {
		t.Errorf("it plays %v s (%v), want 0.5", s, err)
	}
	if again := Make(prng.NewPCG64(7), Rate/2); !bytes.Equal(one, again) {
		t.Error("the same seed makes another file")
	}
	if other := Make(prng.NewPCG64(8), Rate/2); bytes.Equal(one, other) {
		t.Error("another seed makes the same file")
	}

	// the same on every machine
	const want = "c71c15285899b7c2"
	if sum := sha256.Sum256(one); hex.EncodeToString(sum[:8]) != want {
		t.Errorf("SHA-256 begins %x, want %s", sum[:8], want)
	}

	loudest := 0
	for at := headerLen; at < len(one); at += 2 {
		loudest = max(loudest, int(math.Abs(float64(int16(binary.LittleEndian.Uint16(one[at:]))))))
	}
	if loudest < 4000 || loudest > 10_000 {
		t.Errorf("the loudest sample is %d, want one of a tone that is not cut", loudest)
	}
}

// wav is a file of these chunks, each a name with its content; a size of -1 is that of
// the content.
func wav(chunks ...chunk) []byte {
	file := []byte("RIFF\x00\x00\x00\x00WAVE")
	for _, c := range chunks {
		size := uint32(len(c.content))
		if c.size >= 0 {
			size = uint32(c.size)
		}
		file = binary.LittleEndian.AppendUint32(append(file, c.name...), size)
		file = append(file, c.content...)
	}
	return file
}

type chunk struct {
	name    string
	content string
	size    int64
}

func formatChunk(kind, channels uint16, rate uint32, bits uint16) chunk {
	b := binary.LittleEndian.AppendUint16(nil, kind)
	b = binary.LittleEndian.AppendUint16(b, channels)
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = append(b, 0, 0, 0, 0, 0, 0)
	return chunk{"fmt ", string(binary.LittleEndian.AppendUint16(b, bits)), -1}
}

func TestSeconds(t *testing.T) {
	mono := formatChunk(1, 1, 8000, 16)
	data := strings.Repeat("x", 8000)
	for _, c := range []struct {
		name string
		file []byte
		want float64
		err  string
	}{
		{"mono", wav(mono, chunk{"data", data, -1}), 0.5, ""},
		{"stereo float", wav(formatChunk(3, 2, 1000, 32), chunk{"data", data, -1}), 1, ""},
		{"extensible, 24 bits", wav(formatChunk(0xfffe, 1, 1000, 24), chunk{"data", data[:3000], -1}), 1, ""},
		{
			"chunks between, of odd sizes", wav(mono, chunk{"LIST", "abc\x00", 3}, chunk{"data", data, -1}), 0.5, "",
		},
		{"chunks after", wav(mono, chunk{"data", data, -1}, chunk{"LIST", "abcd", -1}), 0.5, ""},
		{"from a pipe", wav(mono, chunk{"data", data, math.MaxUint32}), 0.5, ""},
		{"from a pipe, size 0", wav(mono, chunk{"data", data, 0}), 0.5, ""},
		{"empty", nil, 0, "not a WAV file"},
		{"MP3", []byte("ID3\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), 0, "not a WAV file"},
		{"no data", wav(mono), 0, `no chunk "data"`},
		{"no samples", wav(mono, chunk{"data", "x", -1}), 0, "has no samples"},
		{"no format", wav(chunk{"data", data, -1}), 0, `no chunk "fmt " before`},
		{"cut in the samples", wav(mono, chunk{"data", data, 9000}), 0, "samples of 9000 bytes, and 8000 are there"},
		{"cut before", wav(mono, chunk{"LIST", "abcd", 100}), 0, `"LIST" has 100 bytes, and 4 are there`},
		{"short format", wav(chunk{"fmt ", "12", -1}), 0, `has 2 bytes, want at least 16`},
		{"compressed", wav(formatChunk(2, 1, 8000, 4)), 0, "compressed (format 2): convert it to PCM"},
		{"no channels", wav(formatChunk(1, 0, 8000, 16)), 0, "0 channels of 16 bits at 8000 Hz"},
		{"no rate", wav(formatChunk(1, 1, 0, 16)), 0, "at 0 Hz"},
		{"no bits", wav(formatChunk(1, 1, 8000, 0)), 0, "of 0 bits"},
	} {
		got, err := Seconds(c.file)
		switch {
		case c.err == "" && (err != nil || got != c.want):
			t.Errorf("%s: %v s (%v), want %v", c.name, got, err, c.want)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: %v, want %q", c.name, err, c.err)
		}
	}
}

func FuzzSeconds(f *testing.F) {
	f.Add(Make(prng.NewPCG64(1), 10))
	f.Add(wav(formatChunk(3, 2, 1000, 32), chunk{"LIST", "abc\x00", 3}, chunk{"data", "abcdefgh", 0}))
	f.Add(wav(formatChunk(1, 0, 0, 0), chunk{"data", "", math.MaxUint32}))
	f.Fuzz(func(t *testing.T, file []byte) {
		s, err := Seconds(file)
		if err == nil && !(s > 0 && s <= float64(len(file))) {
			t.Errorf("a file of %d bytes plays %v s", len(file), s)
		}
	})
}
