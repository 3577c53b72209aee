package live

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/benchrig/bench/internal/text"
)

// marks are the symbols of the matrix.
type marks map[StepState]string

// marksOf are symbols that a terminal has.
func marksOf(unicode bool) marks {
	if unicode {
		return marks{Done: "✓", Suspect: "?", Failed: "✗", Running: "▶", Pending: "·", NotRun: "–", NotNeeded: "○"}
	}
	return marks{Done: "+", Suspect: "?", Failed: "x", Running: ">", Pending: ".", NotRun: "-", NotNeeded: "o"}
}

func roleOf(s StepState) role {
	return map[StepState]role{
		Done: good, Suspect: doubt, Failed: bad, Running: busy, Pending: faint, NotRun: faint,
		NotNeeded: faint,
	}[s]
}

// frame draws a view into a terminal of a size.
type frame struct {
	view    View
	width   int
	height  int
	unicode bool
	cursor  cursor
	asked   string // a question that waits for an answer; "": none
	note    string // the latest message; "": none
	control bool   // keys that change the run are there
}

// cursor is the chosen step, and what of the matrix is in sight.
type cursor struct {
	row, column, repeat int
	top, left           int
}

// lines is the whole frame: exactly height lines, none wider than width.
func (f *frame) lines() []line {
	now, head := f.now(), f.head()
	room := f.height - len(head) - len(now) - 1
	gpus, matrix := f.shares(room)
	all := append([]line{}, head...)
	all = append(all, f.matrix(matrix)...)
	all = append(all, now...)
	all = append(all, f.gpus(gpus)...)
	all = append(all, f.log(f.height-len(all)-1)...)
	for len(all) < f.height-1 {
		all = append(all, line{})
	}

	all = append(all[:max(0, f.height-1)], f.foot())
	for i := range all {
		all[i] = all[i].fit(f.width)
	}

	return all
}

// shares divides the room below the head and beside the current step: GPUs
// first as one line, then the matrix, then GPUs one per line, the log last.
func (f *frame) shares(room int) (gpus, matrix int) {
	const leastMatrix, leastLog = 4, 4
	want := len(f.view.Rows) + 2
	if len(f.view.GPUs) > 0 {
		gpus = 1
	}
	matrix = min(want, max(leastMatrix, room-gpus-leastLog), max(0, room-gpus))
	if n := f.gpuRows(); n > gpus && room-matrix-n >= leastLog {
		gpus = n
	}
	return gpus, matrix
}

func (f *frame) head() []line {
	v := f.view
	name := v.Name
	if v.Simulated {
		name += " (simulated)"
	}

	state := span{v.StateText, strong}
	switch v.State {
	case RunDead, RunSilent, RunStopped:
		state.role = bad
	case RunActive, RunEnded, RunWaits:
	}

	lines := []line{{{"bench ", faint}, {name, strong}, {"  " + v.RunID + "  ", faint}, state}}
	left := line{{"   " + v.Left, strong}}
	for _, words := range []bool{true, false} {
		counts := f.counts(words)
		if whole := append(counts, left...); lipgloss.Width(whole.bare()) <= f.width {
			return append(lines, whole)
		}
	}

	if v.Left == "" {
		return append(lines, f.counts(false))
	}

	return append(lines, f.counts(false), line{{v.Left, strong}})
}

// counts says how many steps are in which state, with the symbols as a legend,
// where there is room in words too.
func (f *frame) counts(words bool) line {
	m := marksOf(f.unicode)
	l := line{{text.Count(f.view.Total, "step") + " ", plain}}
	for _, s := range states() {
		if n := f.view.Counts[s]; n > 0 {
			text := fmt.Sprintf(" %d", n)
			if words {
				text += " " + string(s)
			}
			l = append(l, span{" " + m[s], roleOf(s)}, span{text, plain})
		}
	}
	return l
}

const columnGap = 2

// matrix draws so many lines: columns, rows, the chosen step.
func (f *frame) matrix(height int) []line {
	v := f.view
	if height < 3 || len(v.Rows) == 0 {
		return nil
	}

	name := 0
	for _, r := range v.Rows {
		name = max(name, lipgloss.Width(r.Variant))
	}

	name = min(name, max(6, f.width/3))
	shown := f.columnsFrom(name)
	head := line{{pad("", name+columnGap), plain}}
	for i := f.cursor.left; i < f.cursor.left+shown; i++ {
		head = append(head, span{pad(v.Columns[i], f.columnWidth(i)), strong})
	}

	rows := height - 2
	head = append(head, f.beyond(rows, shown)...)
	lines := []line{head}
	f.scroll(rows)
	for r := f.cursor.top; r < min(len(v.Rows), f.cursor.top+rows); r++ {
		lines = append(lines, f.row(r, name, shown))
	}

	for len(lines) < height-1 {
		lines = append(lines, line{})
	}

	return append(lines, f.chosen())
}

// beyond says that there are more rows or columns than are in sight.
func (f *frame) beyond(rows, shown int) line {
	var more []string
	if n := len(f.view.Rows) - rows; n > 0 {
		more = append(more, text.Count(n, "row"))
	}
	if n := len(f.view.Columns) - shown; n > 0 {
		more = append(more, text.Count(n, "column"))
	}
	if len(more) == 0 {
		return nil
	}
	return line{{"+" + strings.Join(more, ", "), faint}}
}

func (f *frame) columnWidth(i int) int {
	return max(lipgloss.Width(f.view.Columns[i]), f.view.Repeats) + columnGap
}

// columnsFrom scrolls so that the chosen column is in sight, and gives the
// number of columns that fit.
func (f *frame) columnsFrom(name int) int {
	const moreNote = 22
	room := f.width - name - columnGap
	fitting := func(left, room int) int {
		n := 0
		for i := left; i < len(f.view.Columns) && f.columnWidth(i) <= room; i++ {
			room -= f.columnWidth(i)
			n++
		}
		return n
	}

	if n := fitting(0, room); n == len(f.view.Columns) { // all of them
		f.cursor.left = 0
		return n
	}

	room -= moreNote
	f.cursor.left = min(f.cursor.left, f.cursor.column)
	for f.cursor.left < f.cursor.column && f.cursor.column >= f.cursor.left+fitting(f.cursor.left, room) {
		f.cursor.left++
	}

	return min(max(1, fitting(f.cursor.left, room)), len(f.view.Columns)-f.cursor.left)
}

// scroll moves the rows so that the chosen one is in sight.
func (f *frame) scroll(rows int) {
	c := &f.cursor
	c.top = min(c.top, c.row)
	if c.row >= c.top+rows {
		c.top = c.row - rows + 1
	}
	c.top = max(0, min(c.top, len(f.view.Rows)-rows))
}

func (f *frame) row(r, name, shown int) line {
	row, m := f.view.Rows[r], marksOf(f.unicode)
	l := line{{pad(row.Variant, name) + strings.Repeat(" ", columnGap), plain}}
	for i := f.cursor.left; i < f.cursor.left+shown; i++ {
		for k, s := range row.Cells[i] {
			sp := span{m[s.State], roleOf(s.State)}
			if r == f.cursor.row && i == f.cursor.column && k == f.cursor.repeat {
				sp.role = chosen
			}
			l = append(l, sp)
		}
		l = append(l, span{strings.Repeat(" ", max(0, f.columnWidth(i)-len(row.Cells[i]))), plain})
	}
	return l
}

// chosen describes the chosen step, and how many rows are out of sight.
func (f *frame) chosen() line {
	s := f.step()
	if s == nil {
		return line{}
	}
	return line{{s.Brief(), roleOf(s.State)}}
}

// step is the chosen step; nil: there is none there.
func (f *frame) step() *Step {
	c := f.cursor
	if c.row >= len(f.view.Rows) || c.column >= len(f.view.Columns) {
		return nil
	}
	cell := f.view.Rows[c.row].Cells[c.column]
	if c.repeat >= len(cell) {
		return nil
	}
	return &cell[c.repeat]
}

// now says what is done at this moment.
func (f *frame) now() []line {
	n := f.view.Now
	if n == nil {
		return []line{f.rule(""), f.afterwards()}
	}

	title := n.Step
	if n.Steps > 0 {
		title = fmt.Sprintf("%s, for %d steps", variantOf(f.view.Live.Step), n.Steps)
		if n.Steps == 1 {
			title = n.Step
		}
	}

	if n.EndSoon {
		title += " (the run stops after it)"
	}

	lines := []line{f.rule(title), {{n.Phase, busy}, {"  " + n.Time, plain}}}
	if n.Share != nil || n.Message != "" || n.Requests != "" {
		l := line{}
		if n.Share != nil {
			l = append(l, span{f.bar(*n.Share), good}, span{fmt.Sprintf(" %3.0f %%  ", 100**n.Share), plain})
		}
		words := n.Requests
		if words == "" {
			words = n.Message
		}
		lines = append(lines, append(l, span{words, plain}))
	}

	if n.Tokens != "" {
		lines = append(lines, plainLine(n.Tokens), plainLine(n.Latency))
	}

	if n.Server != "" {
		lines = append(lines, plainLine(n.Server))
	}

	if f.view.State == RunDead {
		lines = append(lines, f.afterwards())
	}

	for _, other := range f.view.Also {
		lines = append(lines, line{{other, faint}})
	}

	return lines
}

// afterwards says what can be done where nothing is under way.
func (f *frame) afterwards() line {
	switch f.view.State {
	case RunDead, RunStopped:
		return plainLine("to continue: bench resume " + f.view.Dir)
	case RunEnded:
		return plainLine("bench report " + f.view.Dir)
	case RunActive, RunWaits, RunSilent:
	}
	return plainLine("current activity unknown")
}

// rule is a line across the terminal, with a title.
func (f *frame) rule(title string) line {
	dash := "-"
	if f.unicode {
		dash = "─"
	}
	if title == "" {
		return line{{strings.Repeat(dash, f.width), faint}}
	}
	title = cut(title, max(0, f.width-6))
	return line{
		{dash + dash + " ", faint},
		{title, strong},
		{" " + strings.Repeat(dash, max(0, f.width-lipgloss.Width(title)-4)), faint},
	}
}

func (f *frame) bar(share float64) string {
	const most, least = 30, 8
	width := max(least, min(most, f.width/4))
	full := min(width, max(0, int(share*float64(width))))
	if f.unicode {
		return strings.Repeat("█", full) + strings.Repeat("░", width-full)
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", width-full) + "]"
}

// log is the end of the server's log, as far as there is room.
func (f *frame) log(height int) []line {
	if height < 2 || f.view.LogOf == "" {
		return nil
	}
	lines := []line{f.rule(f.view.LogOf)}
	tail := f.view.Log
	for _, l := range tail[max(0, len(tail)-height+1):] {
		lines = append(lines, line{{l, faint}})
	}
	return lines
}

// foot is the last line: a question, else the latest message, else the keys.
func (f *frame) foot() line {
	switch {
	case f.asked != "":
		return line{{" " + f.asked + " y/n ", chosen}}
	case f.note != "":
		return line{{f.note, doubt}}
	case f.control:
		return line{{"s skip  x stop after this one  t results  l log  arrows move  q quit  ? help", faint}}
	}
	return line{{"t results  l log  arrows move  q quit  ? help", faint}}
}
