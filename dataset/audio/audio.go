// Package audio makes WAV files and measures how long others play.
//
// What goes in: random numbers and a length, or the bytes of a WAV file. What comes
// out: the bytes of a file of tones with noise, the same on every machine; seconds; a
// file as a form, as servers take it. It opens no file.
package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/benchrig/bench/dataset/prng"
)

// Rate is that of made files, in samples a second. They have one channel of 16 bits,
// as models of speech take them.
const Rate = 16_000

// MaxS is the longest file to make, in seconds.
const MaxS = 600

const (
	headerLen   = 44
	sampleBytes = 2
	toneSamples = Rate / 5 // of one pitch
	lowest      = 100      // Hz, of a tone
	highest     = 1000
)

// Size is that of a made file of so many samples, in bytes.
func Size(samples int) int { return headerLen + samples*sampleBytes }

// Make is a WAV file of tones that change five times a second, with noise. It is made
// of whole numbers only: no machine rounds it otherwise.
func Make(rng *prng.PCG64, samples int) []byte {
	file := make([]byte, 0, Size(samples))
	file = append(file, "RIFF"...)
	file = binary.LittleEndian.AppendUint32(file, uint32(Size(samples)-8))
	file = append(file, "WAVEfmt "...)
	file = binary.LittleEndian.AppendUint32(file, 16)
	file = binary.LittleEndian.AppendUint16(file, formatPCM)
	file = binary.LittleEndian.AppendUint16(file, 1) // channel
	file = binary.LittleEndian.AppendUint32(file, Rate)
	file = binary.LittleEndian.AppendUint32(file, Rate*sampleBytes)
	file = binary.LittleEndian.AppendUint16(file, sampleBytes)
	file = binary.LittleEndian.AppendUint16(file, 8*sampleBytes)
	file = append(file, "data"...)
	file = binary.LittleEndian.AppendUint32(file, uint32(samples*sampleBytes))

	noise := rng.Bytes(samples)
	var phase, step uint32 // of a period, in 2^32
	for i := range samples {
		if i%toneSamples == 0 {
			step = uint32(rng.Integers(lowest, highest, 1)[0]) * (math.MaxUint32 / Rate)
		}
		phase += step
		value := triangle(phase) + 8*(int(noise[i])-128)
		file = binary.LittleEndian.AppendUint16(file, uint16(int16(value)))
	}
	return file
}

// triangle is a wave of a quarter of the full swing.
func triangle(phase uint32) int {
	up := int(phase >> 16)
	if up >= 1<<15 {
		up = 1<<16 - 1 - up
	}
	return up/2 - 1<<13
}

// Formats of samples that have the same size each.
const (
	formatPCM        = 1
	formatFloat      = 3
	formatExtensible = 0xfffe
)

// format is what the chunk "fmt " says of samples.
type format struct {
	rate  int // samples a second
	frame int // bytes of one sample of all channels; 0: not known yet
}

// Seconds is how long a WAV file plays. The error says what is wrong with it.
func Seconds(file []byte) (float64, error) {
	const chunkHead = 8 // bytes: a name and a size
	if len(file) < 12 || string(file[:4]) != "RIFF" || string(file[8:12]) != "WAVE" {
		return 0, errors.New("it is not a WAV file: it does not begin with RIFF and WAVE")
	}

	var f format
	for rest := file[12:]; len(rest) >= chunkHead; {
		name, size := string(rest[:4]), uint64(binary.LittleEndian.Uint32(rest[4:]))
		rest = rest[chunkHead:]
		if name == "data" {
			return f.seconds(size, len(rest))
		}
		if size > uint64(len(rest)) {
			return 0, fmt.Errorf("the WAV file was cut off: %q has %d bytes, and %d are there", name, size, len(rest))
		}
		if name == "fmt " {
			var err error
			if f, err = readFormat(rest[:size]); err != nil {
				return 0, err
			}
		}
		rest = rest[min(size+size%2, uint64(len(rest))):] // chunks begin at even places
	}
	return 0, errors.New(`the WAV file has no samples: it has no chunk "data"`)
}

// seconds is how long samples of size bytes play, of which so many are there. Programs
// that write to a pipe leave the size 0 or as large as can be.
func (f format) seconds(size uint64, there int) (float64, error) {
	if size == 0 || size == math.MaxUint32 {
		size = uint64(there)
	}
	switch {
	case f.frame == 0:
		return 0, errors.New(`the WAV file does not say what its samples are: no chunk "fmt " before "data"`)
	case size > uint64(there):
		return 0, fmt.Errorf("the WAV file was cut off: it has samples of %d bytes, and %d are there", size, there)
	case size < uint64(f.frame):
		return 0, errors.New("the WAV file has no samples")
	}
	return float64(size/uint64(f.frame)) / float64(f.rate), nil
}

func readFormat(chunk []byte) (format, error) {
	if len(chunk) < 16 {
		return format{}, fmt.Errorf(`the WAV file's chunk "fmt " has %d bytes, want at least 16`, len(chunk))
	}
	kind, channels := binary.LittleEndian.Uint16(chunk), int(binary.LittleEndian.Uint16(chunk[2:]))
	rate, bits := binary.LittleEndian.Uint32(chunk[4:]), int(binary.LittleEndian.Uint16(chunk[14:]))
	switch {
	case kind != formatPCM && kind != formatFloat && kind != formatExtensible:
		return format{}, fmt.Errorf("the WAV file is compressed (format %d): convert it to PCM", kind)
	case channels == 0 || rate == 0 || bits == 0 || bits%8 != 0:
		return format{}, fmt.Errorf("the WAV file has %d channels of %d bits at %d Hz: want whole bytes, and some of "+
			"each", channels, bits, rate)
	}
	return format{rate: int(rate), frame: channels * bits / 8}, nil
}
