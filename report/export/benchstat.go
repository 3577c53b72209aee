package export

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/results"
)

// Benchstat prints sides in the format of Go's benchmarks, for benchstat: one
// line per server life of each variant at each point. The key "run" tells the
// sides apart (benchstat -col run), the parts of the name the rest.
func Benchstat(w io.Writer, sides []versus.Side) error {
	out := &bytes.Buffer{}
	all, _, err := versus.FiguresOf(sides, nil)
	if err != nil {
		return err
	}

	for _, f := range all {
		if !knownBy(sides, f) {
			continue
		}
		better := "lower"
		if f.Higher {
			better = "higher"
		}
		fmt.Fprintf(out, "Unit %s better=%s\n", benchUnit(f), better)
	}

	for _, side := range sides {
		run := side.Run
		// benchstat has a table for each value of all other keys
		fmt.Fprintf(out, "\nrun: %s\nsimulated: %t\n", Word(side.Name), run.AnySimulated())
		for _, cell := range compare.CellsOf(run.Manifest, versus.InOrder(run)) {
			benchLines(out, cell, run.Manifest.Scenario, all)
		}
	}

	_, err = w.Write(out.Bytes())

	return err
}

// knownBy reports whether a step of the sides has a figure.
func knownBy(sides []versus.Side, f catalog.Figure) bool {
	return slices.ContainsFunc(sides, func(s versus.Side) bool {
		return slices.ContainsFunc(s.Run.Steps, func(step results.Step) bool { return f.Of(step.Result) != nil })
	})
}

// benchLines are the lives of a cell. What a life does not know it leaves out.
func benchLines(out *bytes.Buffer, c compare.Cell, scenario string, figures []catalog.Figure) {
	if len(c.Counted) == 0 {
		return
	}

	const digits = 10
	name := fmt.Sprintf("Benchmark%s/variant=%s/point=%s", Capital(Word(scenario)), namePart(c.Variant),
		namePart(c.Point))
	if c.Extrapolated() != nil {
		name += "/extrapolated"
	}

	if c.IsSimulated() {
		name += "/simulated"
	}

	for i := range c.ByLife() {
		var fields []string
		for _, f := range figures {
			if values := c.PerLife(f.Of); values != nil {
				fields = append(fields, strconv.FormatFloat(values[i]*f.Scale, 'g', digits, 64), benchUnit(f))
			}
		}
		if fields != nil {
			fmt.Fprintf(out, "%s 1 %s\n", name, strings.Join(fields, " "))
		}
	}
}

// benchUnit names a figure as a unit: "output-tok/s", "p99-ttft-ms".
func benchUnit(f catalog.Figure) string {
	if stem, isTime := strings.CutSuffix(f.Name, "_s"); isTime {
		return strings.ReplaceAll(stem, "_", "-") + "-ms"
	}
	if stem, isSize := strings.CutSuffix(f.Name, "_bytes"); isSize {
		return strings.ReplaceAll(stem, "_", "-") + "-GiB"
	}
	return Word(strings.ReplaceAll(f.Title, " ", "-"))
}

// Word has no blank in it, which would end a field.
func Word(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return '_'
		}
		return r
	}, text.Clean(s))
	if s == "" {
		return "none"
	}
	return s
}

// namePart is one part of a benchmark's name, which a slash would end.
func namePart(s string) string { return strings.ReplaceAll(Word(s), "/", "_") }

// Capital makes a name of a benchmark: a small letter would end the word
// Benchmark.
func Capital(s string) string {
	s = namePart(s)
	first := []rune(s)
	first[0] = unicode.ToUpper(first[0])
	return string(first)
}
