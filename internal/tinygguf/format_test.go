package tinygguf

import (
	"encoding/binary"
	"math"
	"testing"
)

// fromFloat16 is exact.
func fromFloat16(h uint16) float64 {
	exponent, fraction := int(h>>10&31), float64(h&1023)
	value := math.Ldexp(fraction, -24)
	switch {
	case exponent == 31 && fraction > 0:
		return math.NaN()
	case exponent == 31:
		value = math.Inf(1)
	case exponent > 0:
		value = math.Ldexp(1024+fraction, exponent-25)
	}
	if h>>15 == 1 {
		return -value
	}
	return value
}

func TestFloat16(t *testing.T) {
	for h := range uint16(0x7c00) {
		v := fromFloat16(h)
		if got := float16(float32(v)); got != h {
			t.Fatalf("float16(%v) = %#x, want %#x", v, got, h)
		}
		if got := float16(float32(-v)); got != h|0x8000 {
			t.Fatalf("float16(%v) = %#x, want %#x", -v, got, h|0x8000)
		}
		next := fromFloat16(h + 1)
		if h+1 == 0x7c00 {
			next = 65536
		}
		even := h + h&1 // half-way cases go to the even neighbour
		if got := float16(float32((v + next) / 2)); got != even {
			t.Fatalf("float16(%v) = %#x, want %#x", (v+next)/2, got, even)
		}
	}
	for v, want := range map[float32]uint16{1e9: 0x7c00, float32(math.Inf(-1)): 0xfc00, 1e-9: 0} {
		if got := float16(v); got != want {
			t.Errorf("float16(%v) = %#x, want %#x", v, got, want)
		}
	}
	if got := float16(float32(math.NaN())); !math.IsNaN(fromFloat16(got)) {
		t.Errorf("float16(NaN) = %#x, want a NaN", got)
	}
}

// testBlock has both signs and its greatest magnitude on the negative side.
func testBlock() []float32 {
	block := make([]float32, blockLen)
	for i := range block {
		block[i] = float32(i-20) / 8
	}
	return block
}

func TestEncodeQ8(t *testing.T) {
	block := testBlock()
	raw := encodeQ8(nil, block)
	scale := fromFloat16(binary.LittleEndian.Uint16(raw))
	for i, want := range block {
		if got := float64(int8(raw[2+i])) * scale; math.Abs(got-float64(want)) > 0.6*scale {
			t.Errorf("weight %d decodes to %v, want %v within half of %v", i, got, want, scale)
		}
	}
}

func TestEncodeQ4(t *testing.T) {
	block := testBlock()
	raw := encodeQ4(nil, block)
	scale := fromFloat16(binary.LittleEndian.Uint16(raw))
	for i, want := range block {
		level := int(raw[2+i%16]>>(4*(i/16))&15) - 8
		if got := float64(level) * scale; math.Abs(got-float64(want)) > 0.6*math.Abs(scale) {
			t.Errorf("weight %d decodes to %v, want %v within half of %v", i, got, want, scale)
		}
	}
}

func TestEncodeZeros(t *testing.T) {
	zero := make([]float32, blockLen)
	for i, b := range encodeQ8(nil, zero) {
		if b != 0 {
			t.Errorf("byte %d of a zero q8_0 block = %d, want 0", i, b)
		}
	}
	for i, b := range encodeQ4(nil, zero)[2:] {
		if b != 0x88 {
			t.Errorf("byte %d of a zero q4_0 block = %#x, want 0x88", i, b)
		}
	}
}

func TestNormalHasUnitSpread(t *testing.T) {
	n, sum, squares := newNormal(1, "x"), 0.0, 0.0
	const count = 100_000
	for range count {
		v := n.next()
		sum += v
		squares += v * v
	}
	if mean := sum / count; math.Abs(mean) > 0.01 {
		t.Errorf("mean = %v, want 0", mean)
	}
	if variance := squares / count; math.Abs(variance-1) > 0.02 {
		t.Errorf("variance = %v, want 1", variance)
	}
}
