// Package llamabench reads what llama.cpp's llama-bench prints.
//
// What goes in: its output as JSON, JSON lines or Markdown, with whatever
// is around it in a log. What comes out: rows in base units, and what is
// doubtful about them. It runs nothing, and computes only the deviation that
// llama-bench printed wrongly.
package llamabench

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/benchrig/bench/results"
)

// Output is what was read.
type Output struct {
	Rows  []results.LlamaBenchRow
	Notes []string // what could not be read, or had to be mended, in words
}

// Parse reads rows in any of the three forms. Lines that belong to none are
// skipped; what looks like a row and cannot be read is noted. An output without
// a row is an error.
func Parse(output []byte) (Output, error) {
	out := parseJSON(output)
	if len(out.Rows) == 0 {
		if err := out.addMarkdown(string(output)); err != nil {
			return Output{}, fmt.Errorf("read llama-bench output: %w", err)
		}
	}

	if len(out.Rows) > 0 {
		return out, nil
	}

	if len(out.Notes) > 0 {
		return Output{}, fmt.Errorf("read llama-bench output: %s", strings.Join(out.Notes, "; "))
	}

	return Output{}, errors.New("read llama-bench output: it has no result: neither JSON objects nor a table with " +
		"columns test and t/s")
}

// SpeedText is a speed with its deviation: "878.31 ± 4.11".
func SpeedText(row results.LlamaBenchRow) string {
	const digits = 2
	speed := strconv.FormatFloat(row.TokensPerS, 'f', digits, 64)
	if row.TokensPerSD == nil {
		return speed
	}
	return speed + " ± " + strconv.FormatFloat(*row.TokensPerSD, 'f', digits, 64)
}

// impossible reports whether n speeds, none below 0, cannot have a deviation beside
// their mean. n is 0 where it is not known: then it is as many as llama-bench
// takes by itself.
func impossible(deviation, mean float64, n int) bool {
	const usual = 5
	return deviation < 0 || deviation > mean*math.Sqrt(float64(cmp.Or(n, usual)))
}
