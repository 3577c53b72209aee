// Package prompts describes sets of prompts for people.
//
// What goes in: a set, and what it was made from. What comes out: lines of text with
// counts, lengths and the hash. It makes no prompts and reads no file.
package prompts

import (
	"fmt"
	"io"
	"strings"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/metrics"
)

// Describe prints counts, lengths and the hash of a set.
func Describe(w io.Writer, path string, set *dataset.Set) {
	var in, out []float64
	images, turns, timed, files, seconds := 0, 0, 0, 0, 0.0
	for _, p := range set.Prompts {
		if p.InputTokens > 0 {
			in = append(in, float64(p.InputTokens))
		}
		if p.OutputTokens > 0 {
			out = append(out, float64(p.OutputTokens))
		}
		images, turns = images+len(p.Images), turns+len(p.Turns)
		if p.Audio != nil {
			files, seconds = files+1, seconds+p.AudioS
		}
		if p.At != nil {
			timed++
		}
	}

	fmt.Fprintf(w, "%s\nprompts        %d\nsha256         %s\n", path, len(set.Prompts), set.SHA256)
	fmt.Fprintf(w, "prompt tokens  %s\noutput tokens  %s\n", lengths(in, len(set.Prompts)),
		lengths(out, len(set.Prompts)))
	for _, count := range []struct {
		what string
		n    int
	}{{"images", images}, {"further turns", turns}, {"with a time", timed}} {
		if count.n > 0 {
			fmt.Fprintf(w, "%-14s %d\n", count.what, count.n)
		}
	}

	if files > 0 {
		fmt.Fprintf(w, "audio          %d files, %.1f s\n", files, seconds)
	}
	for _, note := range set.Notes {
		fmt.Fprintf(w, "note: %s\n", note)
	}
}

// DescribeOrigin prints what a frozen set was made from.
func DescribeOrigin(w io.Writer, meta dataset.Meta) {
	fmt.Fprintf(w, "made from      %s %s, seed %d\n", meta.Spec.Kind, meta.Spec.Path, meta.Spec.Seed)
	if meta.Tokenizer != "" {
		fmt.Fprintf(w, "tokenizer      %s %s\n", meta.Tokenizer, meta.TokenizerSHA256)
	}
}

// lengths describes token counts, those that are known.
func lengths(known []float64, of int) string {
	if len(known) == 0 {
		return "not known"
	}
	d := metrics.Describe(known, []float64{50, 90, 99})
	var b strings.Builder
	fmt.Fprintf(&b, "min %.0f, mean %.1f, median %.0f", *d.Min, *d.Mean, *d.Median)
	for _, p := range d.Percentiles[1:] {
		fmt.Fprintf(&b, ", %s %.0f", metrics.PercentileName(p.P), *p.Value)
	}
	fmt.Fprintf(&b, ", max %.0f", *d.Max)
	if len(known) < of {
		fmt.Fprintf(&b, " (of the %d that are known)", len(known))
	}
	return b.String()
}
