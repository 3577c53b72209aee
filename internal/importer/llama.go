package importer

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/internal/llamabench"
	"github.com/benchrig/bench/results"
)

// fromTests makes results of llama-bench's JSON objects: the tests of one model
// in a file are one result, whose rows keep all their settings.
func fromTests(name string, objects []object) (all []*entry, rest []results.ImportedLine) {
	groups := map[string]*entry{}
	for _, o := range objects {
		out, err := llamabench.Parse(o.json())
		if err != nil {
			text := fmt.Sprintf("a test that cannot be read: %v: %s", err, brief(o.json()))
			rest = appendLine(rest, o.line, results.LineNotFigures, text)
			continue
		}

		for i, row := range out.Rows {
			key := fmt.Sprint(row.File, "\x00", row.Model, "\x00", row.SizeBytes, "\x00", row.Parameters)
			e := groups[key]
			if e == nil {
				e = newEntry(name, formatLlamaJSON, o.line)
				e.origin.StatedSettings = settingNames()
				groups[key] = e
				all = append(all, e)
			}
			e.addTest(o, row)
			if i == 0 {
				e.warnOfTest(o, out.Notes)
			}
		}
	}

	return all, rest
}

func (e *entry) addTest(o object, row results.LlamaBenchRow) {
	for _, key := range []string{"test_time", "avg_ns", "stddev_ns", "samples_ts"} { // what a row has no field for
		if raw, ok := o.values[key]; ok {
			row.Rest[key] = brief(raw)
		}
	}
	e.rows = append(e.rows, row)
	e.model = row.ModelName()
}

func (e *entry) warnOfTest(o object, notes []string) {
	for _, again := range o.twice {
		e.warn(results.WarnImportedUnusable, "a key occurs twice; the last value is used: %s", shown(again))
	}
	for _, note := range notes {
		e.warn(results.WarnImportedUnusable, "line %d: %s", o.line, note)
	}
}

// json writes the object again.
func (o *object) json() []byte {
	var line bytes.Buffer
	line.WriteByte('{')
	for i, key := range o.keys {
		if i > 0 {
			line.WriteByte(',')
		}
		fmt.Fprintf(&line, "%s:%s", quoted(key), o.values[key])
	}
	line.WriteByte('}')
	return line.Bytes()
}

// commonSettings are the settings that all rows of a result share, for telling
// results of one model apart.
func (e *entry) commonSettings() []results.RowSetting {
	if len(e.rows) == 0 {
		return nil
	}

	common := e.rows[0].Settings()
	for _, row := range e.rows[1:] {
		others := row.Settings()
		common = slices.DeleteFunc(common, func(s results.RowSetting) bool { return !slices.Contains(others, s) })
	}
	return common
}

// objectOfCells makes an object of a row of a CSV file or an INSERT, whose
// values are text.
func objectOfCells(heads, cells []string, line int) object {
	o := object{values: map[string]jsonText{}, line: line}
	for i, head := range heads {
		if i >= len(cells) || o.has(head) {
			continue
		}
		o.keys = append(o.keys, head)
		if plain.IsNumber(cells[i]) && head != "build_commit" && head != "tensor_split" && head != "cpu_mask" {
			o.values[head] = jsonText(cells[i])
			continue
		}
		o.values[head] = quoted(cells[i])
	}
	return o
}

var insert = regexp.MustCompile(`(?i)^\s*INSERT INTO\s+\S+\s*\(([^)]*)\)\s*VALUES\s*\((.*)\);\s*$`)

// fromSQL reads llama-bench -o sql.
func fromSQL(name string, lines []textLine) (entries []*entry, rest []results.ImportedLine) {
	var objects []object
	for _, l := range lines {
		m := insert.FindStringSubmatch(l.text)
		if m == nil {
			rest = appendLine(rest, l.no, results.LineNote, l.text)
			continue
		}
		reader := csv.NewReader(strings.NewReader(strings.ReplaceAll(m[2], "'", `"`)))
		reader.TrimLeadingSpace = true
		cells, err := reader.Read()
		heads := strings.Split(strings.ReplaceAll(m[1], " ", ""), ",")
		if err != nil || len(cells) != len(heads) {
			rest = appendLine(rest, l.no, results.LineNotFigures, l.text)
			continue
		}
		o := objectOfCells(heads, cells, l.no)
		if kindOf(o) != formatLlamaJSON {
			rest = appendLine(rest, l.no, results.LineNotFigures, l.text)
			continue
		}
		objects = append(objects, o)
	}

	entries, broken := fromTests(name, objects)
	for _, e := range entries {
		e.origin.Format = formatLlamaSQL
	}

	return entries, append(rest, broken...)
}

func appendLine(rest []results.ImportedLine, no int, kind results.LineKind, text string) []results.ImportedLine {
	if text = shown(text); strings.TrimSpace(text) == "" {
		return rest
	}
	return append(rest, results.ImportedLine{Line: no, Kind: kind, Text: text})
}
