package plain

import (
	"regexp"
	"strings"
)

// ruleRow is the row of dashes below the head of a Markdown table.
var ruleRow = regexp.MustCompile(`^:?-{2,}:?([ \t]*\|[ \t]*:?-{2,}:?)+[ \t]*\|?$`)

// WithOuterPipes puts pipes around the rows of Markdown tables that are written
// without, so that all tables look alike. A head and a row of dashes with as many
// columns prove a table; it ends with the first line without a pipe.
func WithOuterPipes(lines []Line) {
	for i := 0; i+1 < len(lines); i++ {
		columns := columnsBelow(lines[i].Text, lines[i+1].Text)
		if columns == 0 {
			continue
		}
		for ; i < len(lines) && strings.Contains(lines[i].Text, "|"); i++ {
			lines[i].Text = "| " + strings.Join(rowOf(lines[i].Text, columns), "|") + " |"
		}
	}
}

// columnsBelow counts the columns of a table without outer pipes that begins with this
// head above this row of dashes; 0: none does.
func columnsBelow(head, rule string) int {
	head, rule = strings.TrimSpace(head), strings.TrimSpace(rule)
	if !strings.Contains(head, "|") || head[0] == '|' || !ruleRow.MatchString(rule) {
		return 0
	}
	columns := len(strings.Split(strings.TrimSuffix(rule, "|"), "|"))
	if len(rowOf(head, columns)) != columns {
		return 0
	}
	return columns
}

// rowOf returns the cells of a row. A pipe at its end begins no empty cell if the row
// has enough cells without it.
func rowOf(text string, columns int) []string {
	cells := strings.Split(strings.TrimSpace(text), "|")
	if last := len(cells) - 1; last == columns && cells[last] == "" {
		cells = cells[:last]
	}
	return cells
}
