package importer

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/benchrig/bench/internal/importer/labels"
	"github.com/benchrig/bench/internal/importer/lenient"
	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/results"
)

// isCSV reports whether a text begins with the heads of a table of results.
func isCSV(text []byte) bool {
	head, _, _ := bytes.Cut(text, []byte("\n"))
	if len(head) > 1<<16 {
		return false
	}
	cells, err := csvReader(head, head).Read()
	return err == nil && len(cells) > 2 && (figuresIn(cells, true) >= 2 || hasAll(cells, "avg_ts", "n_prompt"))
}

// csvReader reads cells between commas, or between semicolons where the head has
// these alone: so spreadsheets write whose commas begin fractions.
func csvReader(text, head []byte) *csv.Reader {
	r := csv.NewReader(bytes.NewReader(text))
	if !bytes.ContainsRune(head, ',') && bytes.ContainsRune(head, ';') {
		r.Comma = ';'
	}
	return r
}

// commasOfCSV decides what the commas within the cells of a file mean.
func commasOfCSV(text, head []byte) plain.Commas {
	reader := csvReader(text, head)
	reader.FieldsPerRecord = -1
	heads, err := reader.Read()
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

func hasAll(cells []string, names ...string) bool {
	n := 0
	for _, name := range names {
		for _, c := range cells {
			if strings.TrimSpace(c) == name {
				n++
				break
			}
		}
	}
	return n == len(names)
}

func figuresIn(heads []string, program bool) int {
	n := 0
	for _, h := range heads {
		if t, ok := labels.Of(h, program); ok && t.IsFigure() {
			n++
		}
	}
	return n
}

// fromCSV reads a table with one result a row: our summary.csv, that of vLLM's
// sweeps, llama-bench -o csv.
func fromCSV(name string, text []byte) (entries []*entry, rest []results.ImportedLine, err error) {
	head, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	meaning := commasOfCSV(text, head)
	reader := csvReader(text, head)
	reader.FieldsPerRecord = -1
	heads, err := reader.Read()
	if err != nil {
		return nil, nil, fmt.Errorf("read CSV: %w", err)
	}

	var tests []lenient.Object
	for {
		cells, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		line := 0
		if len(cells) > 0 {
			line, _ = reader.FieldPos(0)
		}
		switch {
		case err != nil:
			var at *csv.ParseError
			if !errors.As(err, &at) {
				return nil, nil, fmt.Errorf("read CSV: %w", err)
			}
			rest = append(rest, results.ImportedLine{
				Line: at.StartLine, Kind: results.LineNotFigures,
				Text: at.Error(),
			})
			continue
		case len(cells) != len(heads):
			rest = appendLine(rest, line, results.LineNotFigures, strings.Join(cells, ","))
			continue
		case len(entries)+len(tests) >= maxEntries:
			return nil, nil, fmt.Errorf("more than %d rows", maxEntries)
		}
		if hasAll(heads, "avg_ts", "n_prompt") {
			tests = append(tests, lenient.ObjectOfCells(heads, cells, line))
			continue
		}
		entries = append(entries, fromRow(name, heads, cells, line, meaning))
	}

	found, broken := fromTests(name, tests)
	return append(entries, found...), append(rest, broken...), nil
}

// fromRow reads a row whose heads are names that a program gave.
func fromRow(name string, heads, cells []string, line int, meaning plain.Commas) *entry {
	e := newEntry(name, formatCSV, line)
	e.commas = meaning
	for i, head := range heads {
		text := cells[i]
		if text == "" {
			continue
		}
		switch param, isParam := strings.CutPrefix(head, "param."); {
		case isParam:
			e.params[param] = text
			e.state(head, text, line, head)
		case head == "verdict":
			e.verdict = results.Verdict(text)
			e.state(head, text, line, head)
		case head == "extrapolated_factor":
			e.takeFactor(head, text, line)
		case head == "simulated":
			e.simulated = text == "true"
			e.state(head, text, line, head)
		default:
			e.take(head, text, line, true)
		}
	}

	if hasAll(heads, "scenario", "run_id", "verdict") {
		e.origin.Format = formatOwnCSV
		return e
	}

	e.origin.Reading = results.VLLM
	return e
}
