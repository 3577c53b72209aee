package importer

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/importer/lenient"
	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/internal/importer/stated"
	"github.com/benchrig/bench/internal/llamabench"
	"github.com/benchrig/bench/internal/programs"
	"github.com/benchrig/bench/results"
)

// fromTests reads objects of llama-bench: the tests of one model in a file are one
// result, whose rows keep all their settings.
func fromTests(name string, objects []lenient.Object) (c content) {
	groups := map[string]*stated.Entry{}
	for _, o := range objects {
		out, err := llamabench.Parse(o.JSON())
		if err != nil {
			c.reject(o.Line, fmt.Sprintf("a test that cannot be read: %v: %s", err, lenient.Brief(o.JSON())))
			continue
		}

		for i, row := range out.Rows {
			key := fmt.Sprint(row.File, "\x00", row.Model, "\x00", row.SizeBytes, "\x00", row.Parameters)
			e := groups[key]
			if e == nil {
				e = stated.New(name, formatLlamaJSON, o.Line)
				e.Origin.StatedSettings = settingNames()
				groups[key] = e
				c.entries = append(c.entries, e)
			}
			addTest(e, o, row)
			if i == 0 {
				warnOfTest(e, o, out.Notes)
			}
		}
	}

	return c
}

// fromPrograms reads objects of other programs that measure an engine without a server:
// the rows of one program with the same settings are one result.
func fromPrograms(name string, objects []lenient.Object) (c content) {
	groups := map[string]*stated.Entry{}
	for _, o := range objects {
		program := programs.Of(o.Has)
		out, err := programs.Read(program, o.JSON())
		if err != nil {
			c.reject(o.Line, fmt.Sprintf("a figure that cannot be read: %v: %s", err, lenient.Brief(o.JSON())))
			continue
		}

		key := fmt.Sprint(program, out.Settings)
		e := groups[key]
		if e == nil || program != programs.Batched { // the others write one object for each run
			e = stated.New(name, formatProgram, o.Line)
			e.Origin.StatedSettings, e.MeasuredBy = settingNames(), string(program)
			maps.Copy(e.Params, out.Settings)
			groups[key] = e
			c.entries = append(c.entries, e)
		}
		e.Measures = append(e.Measures, out.Measures...)
		warnOfTest(e, o, out.Notes)
		for _, m := range out.Measures {
			e.State(m.Title, fmt.Sprint(*m.Value), o.Line, m.Name)
		}
	}

	return c
}

// addTest adds a test as a row.
func addTest(e *stated.Entry, o lenient.Object, row results.LlamaBenchRow) {
	for _, key := range []string{"test_time", "avg_ns", "stddev_ns", "samples_ts"} { // what a row has no field for
		if raw, ok := o.Values[key]; ok {
			row.Rest[key] = lenient.Brief(raw)
		}
	}
	e.Rows = append(e.Rows, row)
	e.Model = row.ModelName()
}

// warnOfTest warns about what is wrong with an object of a program.
func warnOfTest(e *stated.Entry, o lenient.Object, notes []string) {
	for _, again := range o.Twice {
		e.Warn(results.WarnImportedUnusable, "a key occurs twice; the last value is used: %s", plain.Shown(again))
	}
	for _, note := range notes {
		e.Warn(results.WarnImportedUnusable, "line %d: %s", o.Line, note)
	}
}

// commonSettings returns the settings that all rows of a result share, which tell
// results of one model apart.
func commonSettings(e *stated.Entry) []results.RowSetting {
	if len(e.Rows) == 0 {
		return nil
	}

	common := e.Rows[0].Settings()
	for _, row := range e.Rows[1:] {
		others := row.Settings()
		common = slices.DeleteFunc(common, func(s results.RowSetting) bool { return !slices.Contains(others, s) })
	}
	return common
}

var insert = regexp.MustCompile(`(?i)^\s*INSERT INTO\s+\S+\s*\(([^)]*)\)\s*VALUES\s*\((.*)\);\s*$`)

// fromSQL reads llama-bench -o sql.
func fromSQL(name string, lines []plain.Line) content {
	c := content{format: formatLlamaSQL}
	var objects []lenient.Object
	for _, l := range lines {
		m := insert.FindStringSubmatch(l.Text)
		if m == nil {
			c.lines = stated.AppendLine(c.lines, l.No, results.LineNote, l.Text)
			continue
		}
		cells := valuesOfSQL(m[2])
		heads := strings.Split(strings.ReplaceAll(m[1], " ", ""), ",")
		o := objectOfCells(heads, cells, l.No)
		if len(cells) != len(heads) || kindOf(o) != formatLlamaJSON {
			c.reject(l.No, l.Text)
			continue
		}
		objects = append(objects, o)
	}

	c.add(fromTests(name, objects))
	for _, e := range c.entries {
		e.Origin.Format = formatLlamaSQL
	}
	return c
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

// objectOfCells turns into an object a row of a CSV file or an INSERT of llama-bench,
// whose values are text.
func objectOfCells(heads, cells []string, line int) lenient.Object {
	o := lenient.Object{Values: map[string]json.RawMessage{}, Line: line}
	for i, head := range heads {
		if i >= len(cells) || o.Has(head) {
			continue
		}
		o.Keys = append(o.Keys, head)
		isText := head == "build_commit" || head == "tensor_split" || head == "cpu_mask"
		if o.Values[head] = lenient.Quoted(cells[i]); !isText && plain.IsNumber(cells[i]) {
			o.Values[head] = json.RawMessage(cells[i])
		}
	}
	return o
}
