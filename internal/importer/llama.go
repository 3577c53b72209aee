package importer

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/importer/lenient"
	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/internal/llamabench"
	"github.com/benchrig/bench/internal/programs"
	"github.com/benchrig/bench/results"
)

// fromTests makes results of llama-bench's JSON objects: the tests of one model
// in a file are one result, whose rows keep all their settings.
func fromTests(name string, objects []lenient.Object) (all []*entry, rest []results.ImportedLine) {
	groups := map[string]*entry{}
	for _, o := range objects {
		out, err := llamabench.Parse(o.JSON())
		if err != nil {
			text := fmt.Sprintf("a test that cannot be read: %v: %s", err, lenient.Brief(o.JSON()))
			rest = appendLine(rest, o.Line, results.LineNotFigures, text)
			continue
		}

		for i, row := range out.Rows {
			key := fmt.Sprint(row.File, "\x00", row.Model, "\x00", row.SizeBytes, "\x00", row.Parameters)
			e := groups[key]
			if e == nil {
				e = newEntry(name, formatLlamaJSON, o.Line)
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

// fromPrograms makes results of what other programs wrote that measure an engine
// without a server: the rows of one program with the same settings are one result.
func fromPrograms(name string, objects []lenient.Object) (all []*entry, rest []results.ImportedLine) {
	groups := map[string]*entry{}
	for _, o := range objects {
		program := programs.Of(o.Has)
		out, err := programs.Read(program, o.JSON())
		if err != nil {
			text := fmt.Sprintf("a figure that cannot be read: %v: %s", err, lenient.Brief(o.JSON()))
			rest = appendLine(rest, o.Line, results.LineNotFigures, text)
			continue
		}

		key := fmt.Sprint(program, out.Settings)
		e := groups[key]
		if e == nil || program != programs.Batched { // the others write one object for each run
			e = newEntry(name, formatProgram, o.Line)
			e.origin.StatedSettings, e.measuredBy = settingNames(), string(program)
			maps.Copy(e.params, out.Settings)
			groups[key] = e
			all = append(all, e)
		}
		e.measures = append(e.measures, out.Measures...)
		e.warnOfTest(o, out.Notes)
		for _, m := range out.Measures {
			e.state(m.Title, fmt.Sprint(*m.Value), o.Line, m.Name)
		}
	}

	return all, rest
}

func (e *entry) addTest(o lenient.Object, row results.LlamaBenchRow) {
	for _, key := range []string{"test_time", "avg_ns", "stddev_ns", "samples_ts"} { // what a row has no field for
		if raw, ok := o.Values[key]; ok {
			row.Rest[key] = lenient.Brief(raw)
		}
	}
	e.rows = append(e.rows, row)
	e.model = row.ModelName()
}

func (e *entry) warnOfTest(o lenient.Object, notes []string) {
	for _, again := range o.Twice {
		e.warn(results.WarnImportedUnusable, "a key occurs twice; the last value is used: %s", plain.Shown(again))
	}
	for _, note := range notes {
		e.warn(results.WarnImportedUnusable, "line %d: %s", o.Line, note)
	}
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

var insert = regexp.MustCompile(`(?i)^\s*INSERT INTO\s+\S+\s*\(([^)]*)\)\s*VALUES\s*\((.*)\);\s*$`)

// fromSQL reads llama-bench -o sql.
func fromSQL(name string, lines []plain.Line) (entries []*entry, rest []results.ImportedLine) {
	var objects []lenient.Object
	for _, l := range lines {
		m := insert.FindStringSubmatch(l.Text)
		if m == nil {
			rest = appendLine(rest, l.No, results.LineNote, l.Text)
			continue
		}
		cells := valuesOfSQL(m[2])
		heads := strings.Split(strings.ReplaceAll(m[1], " ", ""), ",")
		if len(cells) != len(heads) {
			rest = appendLine(rest, l.No, results.LineNotFigures, l.Text)
			continue
		}
		o := lenient.ObjectOfCells(heads, cells, l.No)
		if kindOf(o) != formatLlamaJSON {
			rest = appendLine(rest, l.No, results.LineNotFigures, l.Text)
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

// valuesOfSQL splits the values of an INSERT. llama-bench writes an apostrophe
// within a value as it is, so only one before a comma or the end closes a value;
// two that are together, as other programs write it, are one.
func valuesOfSQL(text string) (all []string) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		inner, isQuoted := strings.CutPrefix(text, "'")
		if !isQuoted {
			value, rest, _ := strings.Cut(text, ",")
			all, text = append(all, strings.TrimSpace(value)), rest
			continue
		}

		end := closingQuote.FindStringIndex(inner)
		if end == nil {
			return nil
		}
		all = append(all, strings.ReplaceAll(inner[:end[0]], "''", "'"))
		text = strings.TrimPrefix(strings.TrimSpace(inner[end[0]+1:]), ",")
	}

	return all
}

var closingQuote = regexp.MustCompile(`'\s*(,\s*('|-?\d|NULL)|$)`) // with what follows

func appendLine(rest []results.ImportedLine, no int, kind results.LineKind, text string) []results.ImportedLine {
	if text = plain.Shown(text); strings.TrimSpace(text) == "" {
		return rest
	}
	return append(rest, results.ImportedLine{Line: no, Kind: kind, Text: text})
}
