package tinygguf

import (
	"encoding/binary"
	"fmt"
	"math"
)

// blockLen is how many weights the quantized types store together.
const blockLen = 32

// format is a way to store weights.
type format struct {
	tensorType uint32 // ggml's number for tensors of it
	fileType   uint32 // llama.cpp's number for a file that is mostly of it
	blockBytes int
	encode     func(dst []byte, block []float32) []byte
}

// rowBytes is the size of n weights, n a multiple of blockLen.
func (f format) rowBytes(n int) int { return n / blockLen * f.blockBytes }

func (f format) appendRow(dst []byte, row []float32) []byte {
	for at := 0; at < len(row); at += blockLen {
		dst = f.encode(dst, row[at:at+blockLen])
	}
	return dst
}

func float32Format() format { return format{0, 0, 4 * blockLen, encodeF32} }

func formatOf(name string) (format, error) {
	switch name {
	case "f32":
		return float32Format(), nil
	case "f16":
		return format{1, 1, 2 * blockLen, encodeF16}, nil
	case "q4_0":
		return format{2, 2, 2 + blockLen/2, encodeQ4}, nil
	case "q8_0":
		return format{8, 7, 2 + blockLen, encodeQ8}, nil
	}
	return format{}, fmt.Errorf("type %q: want f32, f16, q8_0 or q4_0", name)
}

func encodeF32(dst []byte, block []float32) []byte {
	for _, v := range block {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	return dst
}

func encodeF16(dst []byte, block []float32) []byte {
	for _, v := range block {
		dst = binary.LittleEndian.AppendUint16(dst, float16(v))
	}
	return dst
}

// largest is the value of greatest magnitude, with its sign.
func largest(block []float32) float64 {
	var top float64
	for _, v := range block {
		if math.Abs(float64(v)) > math.Abs(top) {
			top = float64(v)
		}
	}
	return top
}

// encodeQ8 stores a scale and 32 signed bytes.
func encodeQ8(dst []byte, block []float32) []byte {
	scale := math.Abs(largest(block)) / 127
	dst = binary.LittleEndian.AppendUint16(dst, float16(float32(scale)))
	for _, v := range block {
		level := 0.0
		if scale > 0 {
			level = math.Round(float64(v) / scale)
		}
		dst = append(dst, byte(int8(level)))
	}
	return dst
}

// encodeQ4 stores a scale and 32 levels of 4 bits, 8 being zero. The low half
// of byte i is weight i, the high half weight i+16.
func encodeQ4(dst []byte, block []float32) []byte {
	scale := largest(block) / -8
	dst = binary.LittleEndian.AppendUint16(dst, float16(float32(scale)))
	level := func(v float32) byte {
		if scale == 0 {
			return 8
		}
		return byte(min(15, max(0, math.Round(float64(v)/scale)+8)))
	}
	for i := range blockLen / 2 {
		dst = append(dst, level(block[i])|level(block[i+blockLen/2])<<4)
	}
	return dst
}

// float16 rounds to the nearest IEEE half, ties to even.
func float16(v float32) uint16 {
	bits := math.Float32bits(v)
	sign := uint16(bits >> 16 & 0x8000)
	bits &= math.MaxInt32
	switch magnitude := math.Float32frombits(bits); {
	case magnitude != magnitude:
		return sign | 0x7e00
	case magnitude >= 65520:
		return sign | 0x7c00
	case magnitude < 1.0/(1<<14): // subnormal: a multiple of 2^-24
		return sign | uint16(math.RoundToEven(float64(magnitude)*(1<<24)))
	}
	const rebias = (127 - 15) << 23
	bits += 0xfff + bits>>13&1
	return sign | uint16((bits-rebias)>>13)
}
