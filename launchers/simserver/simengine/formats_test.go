package simengine

import (
	"math"
	"strings"
	"testing"
)

func TestFormats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		asked, model, want string
		bytes              float64
	}{
		{"", "meta-llama/Llama-3.1-8B-Instruct", "", 2},
		{"", "models/Llama-2-7b.Q4_K_M.gguf", "q4_k", 0.606},
		{"", "llama-2-7b.Q8_0.gguf", "q8_0", 1.063},
		{"", "TheBloke/Llama-2-7B-GPTQ", "gptq", 0.56},
		{"", "Llama-4-Maverick-17B-128E-Instruct-FP8", "fp8", 1},
		{"fp8", "m-8B", "fp8", 1},
		{"auto", "m-w8a8", "w8a8", 1},
	} {
		got := QuantizationOf(c.asked, c.model)
		if bytes := bytesPerWeight(got); got != c.want || bytes != c.bytes {
			t.Errorf("quantizationOf(%q, %q) = %q with %v bytes, want %q with %v", c.asked, c.model, got, bytes,
				c.want, c.bytes)
		}
	}
	for i, f := range formats() {
		for _, later := range formats()[i+1:] {
			if strings.Contains(later.Name, f.Name) {
				t.Errorf("format %s hides %s", f.Name, later.Name)
			}
		}
	}
}

// stepOf is the time of a decoding step of 8 sequences.
func stepOf(t *testing.T, c Config) float64 {
	t.Helper()
	s, err := c.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	return NewCosts(s).Step(Work{Tokens: 8, Seqs: 8, Context: 800, Attention: 800})
}

func TestSwitchesOfSpeed(t *testing.T) {
	t.Parallel()
	base := Config{Model: "m-8B"}
	plain := stepOf(t, base)
	faster := base
	faster.Decode = 1.02
	if ratio := plain / stepOf(t, faster); math.Abs(ratio-1.02) > 0.001 {
		t.Errorf("--sim-decode 1.02 makes a decoding step %v times as fast", ratio)
	}
	faster = base
	faster.Prefill = 2
	if got := stepOf(t, faster); got < 0.98*plain {
		t.Errorf("--sim-prefill 2 makes a decoding step %v s long, want about %v", got, plain)
	}
	slow := Config{Model: "m-8B-w8a8", Device: "strix-halo"}
	fp16 := Config{Model: "m-8B", Device: "strix-halo"}
	if got := stepOf(t, slow); got < 2*stepOf(t, fp16) {
		t.Errorf("INT8 on a device without it: step %v s, want well above the %v s of 16 bit", got, stepOf(t, fp16))
	}
}

func TestSlotContext(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cfg  Config
		want int
	}{
		{Config{Persona: PersonaLlamaCpp, CtxSize: 4096, MaxNumSeqs: 16}, 256},
		{Config{Persona: PersonaLlamaCpp, CtxSize: 4096, MaxNumSeqs: 16, KVUnified: true}, 4096},
		{Config{Persona: PersonaLlamaCpp, CtxSize: 4096}, 1024},
		{Config{Persona: PersonaLlamaCpp, CtxSize: 4096, MaxModelLen: 100}, 100},
	} {
		s, err := c.cfg.Resolve()
		if err != nil || s.MaxModelLen != c.want {
			t.Errorf("context of a slot with ctx-size %d, parallel %d, unified %v = %d, %v, want %d",
				c.cfg.CtxSize, c.cfg.MaxNumSeqs, c.cfg.KVUnified, s.MaxModelLen, err, c.want)
		}
	}
}

// llama-server allocates its context once: with slots that share it, what all
// hold together is bounded by it too.
func TestSharedContextBoundsMemory(t *testing.T) {
	t.Parallel()
	for _, unified := range []bool{false, true} {
		c := Config{Persona: PersonaLlamaCpp, CtxSize: 4096, MaxNumSeqs: 16, KVUnified: unified}
		s, err := c.Resolve()
		if err != nil || s.Blocks*s.BlockSize != 4096 {
			t.Errorf("unified %v: room for %d tokens, %v, want the 4096 of ctx-size", unified,
				s.Blocks*s.BlockSize, err)
		}
	}
	c := Config{Persona: PersonaLlamaCpp}
	if s, err := c.Resolve(); err != nil || s.Blocks*s.BlockSize <= 4096 {
		t.Errorf("without ctx-size: room for %d tokens, %v, want what device memory leaves", s.Blocks*s.BlockSize, err)
	}
}

func TestMaverick(t *testing.T) {
	t.Parallel()
	m, err := FindModel("", "meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8")
	if err != nil || m.Name != "maverick" {
		t.Errorf("findModel(Maverick) = %s, %v", m.Name, err)
	}
}
