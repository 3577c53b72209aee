package importer

import (
	"regexp"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/importer/commands"
	"github.com/benchrig/bench/internal/importer/labels"
	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/internal/importer/stated"
	"github.com/benchrig/bench/internal/llamabench"
	"github.com/benchrig/bench/results"
)

var tableRule = regexp.MustCompile(`^\|?[\s|:+-]+\|?$`)

// cellsOf splits a row of a Markdown table.
func cellsOf(line string) []string {
	line = strings.TrimSpace(line)
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	cells := strings.Split(line, "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// table reads a Markdown table from its head on.
func (s *scanner) table() {
	start := s.at
	for s.at+1 < len(s.lines) && strings.HasPrefix(strings.TrimSpace(s.lines[s.at+1].Text), "|") {
		s.at++
	}

	rows := s.lines[start : s.at+1]
	heads := cellsOf(rows[0].Text)
	switch {
	case slices.Contains(heads, "test") && slices.Contains(heads, "t/s"):
		s.llamaTable(rows)
	case len(rows) < 3 || !tableRule.MatchString(strings.TrimSpace(rows[1].Text)):
		s.notTable(rows)
	case figuresIn(heads, false) >= 2:
		s.rowTable(heads, rows)
	case figuresIn(firstCells(rows[2:]), false) >= 2:
		s.columnTable(heads, rows)
	default:
		s.notTable(rows)
	}
}

// notTable keeps the rows of a table without results.
func (s *scanner) notTable(rows []plain.Line) {
	for i, r := range rows {
		kind := results.LineNotFigures
		if i == 0 || tableRule.MatchString(strings.TrimSpace(r.Text)) || !strings.ContainsAny(r.Text, "0123456789") {
			kind = results.LineNote
		}
		s.keep(r, kind)
	}
}

// firstCells returns the first cell of each row.
func firstCells(rows []plain.Line) []string {
	var first []string
	for _, r := range rows {
		first = append(first, cellsOf(r.Text)[0])
	}
	return first
}

// rowTable reads a table with a result in each row.
func (s *scanner) rowTable(heads []string, rows []plain.Line) {
	s.keep(rows[0], results.LineHeading)
	for _, r := range rows[2:] {
		cells := cellsOf(r.Text)
		if len(cells) != len(heads) {
			s.keep(r, results.LineNotFigures)
			continue
		}
		e := s.newEntry("markdown-table", r.No)
		e.Table = rows[0].No
		for i, head := range heads {
			s.cell(e, head, cells[i], r.No)
		}
		s.tableEntry(e, r)
	}

	s.before = nearby{}
}

// columnTable reads a table with a figure in each row and a result in each column. If
// that leaves anything out, its lines are kept whole.
func (s *scanner) columnTable(heads []string, rows []plain.Line) {
	s.keep(rows[0], results.LineHeading)
	left := slices.ContainsFunc(rows[2:], func(r plain.Line) bool { return len(cellsOf(r.Text)) != len(heads) })
	for col := 1; col < len(heads); col++ {
		e := s.newEntry("markdown-table", rows[0].No)
		e.Table, e.Variant = rows[0].No, plain.Cell(heads[col])
		for _, r := range rows[2:] {
			cells := cellsOf(r.Text)
			if col >= len(cells) {
				continue
			}
			s.cell(e, cells[0], cells[col], r.No)
			left = left || plain.Cell(cells[col]) == "" && strings.ContainsAny(cells[0], "0123456789")
		}
		if !e.HasFigures() {
			left = true
			continue
		}
		s.found(e)
		s.last = nil
	}

	if left {
		s.notTable(rows[2:])
	}

	s.before = nearby{}
}

// plainRow returns a row with points before the fractions of its numbers.
func (s *scanner) plainRow(row string) string {
	if s.commas != plain.Decimal {
		return row
	}
	return inRow.ReplaceAllStringFunc(row, func(number string) string {
		text, _ := s.commas.Plain(number, false)
		return text
	})
}

var inRow = regexp.MustCompile(`\b\d+(?:\.\d{3})*,\d+\b`)

// tableEntry takes the result of a row.
func (s *scanner) tableEntry(e *stated.Entry, at plain.Line) {
	if !e.HasFigures() {
		s.keep(at, results.LineNotFigures)
		return
	}
	s.found(e)
	s.last = nil
}

// cell takes one cell. What is not a figure becomes part of the name or a parameter.
func (s *scanner) cell(e *stated.Entry, head, text string, line int) {
	if plain.Cell(text) == "" {
		return
	}

	switch lower := strings.ToLower(plain.Cell(head)); lower {
	case "concurrency", "max concurrency":
		e.Put(labels.Target{Name: "max_concurrency", Scale: 1}, true, head, text, line)
	case "model", "model/quant", "backend", "engine", "variant", "config", "configuration", "name":
		e.Variant = strings.TrimSpace(e.Variant + " " + plain.Cell(text))
		switch lower {
		case "model":
			e.Model = plain.Cell(text)
		case "backend", "engine":
			e.Engine = commands.EngineNamed(plain.Cell(text))
		}
		e.State(head, text, line, "variant")
	default:
		if !e.Take(head, text, line, false) && plain.Cell(head) != "" {
			e.Params[plain.Cell(head)] = plain.Cell(text)
		}
	}
}

var signBetween = regexp.MustCompile(`\s+[^\s\d]{1,4}\s+(\d+(?:\.\d+)?)$`)

// llamaTable reads llama-bench's own table, and the line with the build below it.
func (s *scanner) llamaTable(rows []plain.Line) {
	e := s.newEntry("llama-bench-table", rows[0].No)
	e.Origin.StatedSettings = settingNames()
	s.keep(rows[0], results.LineHeading)
	build := ""
	for next := s.at + 1; next < len(s.lines) && next <= s.at+2; next++ {
		if text := strings.TrimSpace(s.lines[next].Text); strings.HasPrefix(text, "build: ") {
			build = text
			s.keep(s.lines[next], results.LineNote)
			s.at = next
			break
		}
	}

	heads := cellsOf(rows[0].Text)
	for _, r := range rows[1:] {
		cells := cellsOf(r.Text)
		if tableRule.MatchString(strings.TrimSpace(r.Text)) || slices.Equal(cells, heads) {
			continue
		}
		parsed, err := llamabench.Parse([]byte(rows[0].Text + "\n" + s.plainRow(r.Text) + "\n" + build + "\n"))
		if err != nil {
			s.keep(r, results.LineNotFigures)
			continue
		}
		e.Rows = append(e.Rows, parsed.Rows...)
		for _, note := range parsed.Notes {
			e.Warn(results.WarnImportedUnusable, "line %d: %s", r.No, note)
		}
		for i, head := range heads {
			e.State(head, signBetween.ReplaceAllString(cells[i], " ± $1"), r.No, "llama_bench")
		}
	}

	if e.Rows == nil {
		return
	}

	e.Model = e.Rows[0].ModelName()
	e.Variant = e.Model
	s.found(e)
	s.before, s.last = nearby{}, nil
}

// valuesOf returns the values in the blocks and tables of a text.
func valuesOf(lines []plain.Line) []plain.Value {
	var values []plain.Value
	var heads []string
	for _, l := range lines {
		text := plainText(withoutQuote(l.Text))
		if strings.HasPrefix(text, "|") {
			cells := cellsOf(text)
			if heads == nil {
				heads = cells
			}
			for i, cell := range cells {
				// a table has a figure in each column, or in each row
				count := i < len(heads) && labels.IsCount(heads[i]) || labels.IsCount(cells[0])
				values = append(values, plain.Value{Text: cell, Count: count})
			}
			continue
		}

		heads = nil
		if m := blockLine.FindStringSubmatch(text); m != nil {
			values = append(values, plain.Value{Text: m[2], Count: labels.IsCount(m[1])})
		}
	}
	return values
}
