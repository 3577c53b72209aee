// Package llamabench reads what llama.cpp's llama-bench prints.
//
// What goes in: its output as JSON, JSON lines or Markdown, with whatever
// stands around it in a log. What comes out: rows in base units. It runs
// nothing and computes nothing that llama-bench did not.
package llamabench

import (
	"fmt"
	"strings"
)

// Row is one test of one model. What the output does not say is zero or nil.
type Row struct {
	Build       string // commit, with its number in brackets where known: "b6e9d2a (6319)"
	CPU         string
	GPU         string
	Backend     string // "ROCm", "CPU"
	File        string // model file; only JSON has it
	Model       string // "llama 7B Q4_K - Medium"
	SizeBytes   int64  // of the weights; Markdown rounds it
	Parameters  int64  // Markdown rounds it
	Threads     int
	GPULayers   *int
	Batch       int
	MicroBatch  int
	FlashAttn   string // as printed: "0", "1", "-1" for auto
	Prompt      int    // tokens of the prompt; 0: no prompt is processed
	Generated   int    // tokens generated
	Depth       int    // tokens in the context before
	TokensPerS  float64
	TokensPerSD float64   // sample deviation over the repetitions
	SamplesS    []float64 // seconds of each repetition; nil in Markdown
	Rest        map[string]string
}

// Test names what was run, as llama-bench's own table does: "pp512", "tg128",
// "pp512+tg128 @ d1024".
func (r Row) Test() string {
	var parts []string
	if r.Prompt > 0 {
		parts = append(parts, fmt.Sprintf("pp%d", r.Prompt))
	}
	if r.Generated > 0 {
		parts = append(parts, fmt.Sprintf("tg%d", r.Generated))
	}
	name := strings.Join(parts, "+")
	if r.Depth > 0 {
		name += fmt.Sprintf(" @ d%d", r.Depth)
	}
	return name
}
