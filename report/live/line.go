package live

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// role is what a piece of text is there for; colours follow from it. None is
// distinguished by colour alone.
type role int

const (
	plain role = iota
	faint
	strong
	good
	bad
	doubt
	busy
	chosen
)

// span is a piece of a line. Its text may come from a folder that anybody wrote: what
// is written of it, paint and bare clean.
type span struct {
	text string
	role role
}

// line is one row of a frame.
type line []span

func plainLine(s string) line { return line{{s, plain}} }

// styles are the terminal's own sixteen colours: they fit its background. Blue,
// yellow and magenta are told apart with any kind of colour vision.
func styles() map[role]lipgloss.Style {
	style := lipgloss.NewStyle()
	return map[role]lipgloss.Style{
		plain: style, faint: style.Faint(true), strong: style.Bold(true), good: style.Foreground(lipgloss.Blue),
		bad: style.Foreground(lipgloss.Magenta).Bold(true), doubt: style.Foreground(lipgloss.Yellow),
		busy: style.Foreground(lipgloss.Cyan).Bold(true), chosen: style.Reverse(true),
	}
}

// cut shortens text to so many cells of the terminal.
func cut(s string, width int) string {
	if lipgloss.Width(s) <= width {
		return s
	}
	if width < 1 {
		return ""
	}

	var out strings.Builder
	used := 0
	for _, r := range s {
		w := lipgloss.Width(string(r))
		if used+w > width-1 {
			break
		}
		out.WriteRune(r)
		used += w
	}

	return out.String() + "~"
}

// pad cuts or fills text to exactly so many cells.
func pad(s string, width int) string {
	s = cut(s, width)
	return s + strings.Repeat(" ", max(0, width-lipgloss.Width(s)))
}

// fit cuts a line to a width.
func (l line) fit(width int) line {
	var out line
	for _, s := range l {
		if width <= 0 {
			break
		}
		s.text = cut(s.text, width)
		width -= lipgloss.Width(s.text)
		out = append(out, s)
	}
	return out
}

// bare is a line without colours.
func (l line) bare() string {
	var out strings.Builder
	for _, s := range l {
		out.WriteString(printable(s.text))
	}
	return strings.TrimRight(out.String(), " ")
}

// paint joins lines to what a terminal gets.
func paint(lines []line) string {
	all := styles()
	var out strings.Builder
	for i, l := range lines {
		if i > 0 {
			out.WriteByte('\n')
		}
		for _, s := range l {
			text := printable(s.text)
			if s.role != plain {
				text = all[s.role].Render(text)
			}
			out.WriteString(text)
		}
	}

	return out.String()
}
