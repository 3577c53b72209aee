package importer

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/importer/labels"
	"github.com/benchrig/bench/internal/importer/lenient"
	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/internal/importer/stated"
	"github.com/benchrig/bench/results"
)

// isCSV reports whether a text begins with the heads of a table of results.
func isCSV(text []byte) bool {
	const longest = 1 << 16
	head, _, _ := bytes.Cut(text, []byte("\n"))
	if len(head) > longest {
		return false
	}
	_, cells, err := openCSV(head)
	return err == nil && len(cells) > 2 && (figuresIn(cells, true) >= 2 || hasAll(cells, "avg_ts", "n_prompt"))
}

// openCSV returns a reader of the rows below the heads. Cells are between commas, or
// between semicolons where the first line has these alone: spreadsheets write so
// where commas begin fractions.
func openCSV(text []byte) (r *csv.Reader, heads []string, err error) {
	r = csv.NewReader(bytes.NewReader(text))
	r.FieldsPerRecord = -1
	head, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	if !bytes.ContainsRune(head, ',') && bytes.ContainsRune(head, ';') {
		r.Comma = ';'
	}
	heads, err = r.Read()
	return r, heads, err
}

// commasOfCSV decides what the commas within the cells of a file mean.
func commasOfCSV(text []byte) plain.Commas {
	reader, heads, err := openCSV(text)
	if err != nil {
		return plain.Unknown
	}

	var values []plain.Value
	for len(values) < maxEntries {
		cells, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		for i, cell := range cells[:min(len(cells), len(heads))] {
			values = append(values, plain.Value{Text: cell, Count: labels.IsCount(heads[i])})
		}
	}
	return plain.CommasIn(values)
}

// hasAll reports whether all names are among the cells.
func hasAll(cells []string, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		return !slices.ContainsFunc(cells, func(cell string) bool { return strings.TrimSpace(cell) == name })
	})
}

// figuresIn counts the heads that name a figure.
func figuresIn(heads []string, program bool) int {
	n := 0
	for _, h := range heads {
		if t, ok := labels.Of(h, program); ok && t.IsFigure() {
			n++
		}
	}
	return n
}

// fromCSV reads a table with one result in each row: bench's summary.csv, that of
// vLLM's sweeps, llama-bench -o csv.
func fromCSV(name string, text []byte) (content, error) {
	c := content{format: formatCSV}
	reader, heads, err := openCSV(text)
	if err != nil {
		return c, fmt.Errorf("read CSV: %w", err)
	}

	meaning := commasOfCSV(text)
	var tests []lenient.Object
	for {
		cells, err := reader.Read()
		var broken *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			c.add(fromTests(name, tests))
			return c, nil
		case errors.As(err, &broken):
			c.reject(broken.StartLine, broken.Error())
			continue
		case err != nil:
			return c, fmt.Errorf("read CSV: %w", err)
		}

		line, _ := reader.FieldPos(0)
		switch {
		case len(cells) != len(heads):
			c.reject(line, strings.Join(cells, ","))
		case len(c.entries)+len(tests) >= maxEntries:
			return c, fmt.Errorf("more than %d rows", maxEntries)
		case hasAll(heads, "avg_ts", "n_prompt"):
			tests = append(tests, objectOfCells(heads, cells, line))
		default:
			c.entries = append(c.entries, fromRow(name, heads, cells, line, meaning))
		}
	}
}

// fromRow reads a row whose heads are names that a program gave.
func fromRow(name string, heads, cells []string, line int, meaning plain.Commas) *stated.Entry {
	e := stated.New(name, formatCSV, line)
	e.Commas = meaning
	for i, head := range heads {
		text := cells[i]
		if text == "" {
			continue
		}
		switch param, isParam := strings.CutPrefix(head, "param."); {
		case isParam:
			e.Params[param] = text
			e.State(head, text, line, head)
		case head == "verdict":
			e.Verdict = results.Verdict(text)
			e.State(head, text, line, head)
		case head == "extrapolated_factor":
			e.TakeFactor(head, text, line)
		case head == "simulated":
			e.Simulated = text == "true"
			e.State(head, text, line, head)
		default:
			e.Take(head, text, line, true)
		}
	}

	if hasAll(heads, "scenario", "run_id", "verdict") {
		e.Origin.Format = formatOwnCSV
		return e
	}

	e.Origin.Reading = results.VLLM
	return e
}
