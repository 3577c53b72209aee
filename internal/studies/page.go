package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// command is something that a page asks for.
type command struct {
	words []string
	show  bool // a table of the run before; else a run
	real  bool // needs a real llama-server
}

// The marks of a page. A table is between two comments; what is run stands
// in a fence that readers can copy from.
const (
	fenceRun  = "```sh run"
	fenceReal = "```sh run llama.cpp"
	fenceEnd  = "```"
	showEnd   = "<!-- end -->"
)

var showMark = regexp.MustCompile(`^<!-- show (.*) -->$`)

// errSkipped is the answer of do to what cannot be run here: the page keeps
// what it has.
var errSkipped = errors.New("skipped")

// rewrite carries out what a page asks for, in its order, and puts what do
// answers to a table in the place of the old one.
func rewrite(page string, do func(command) (string, error)) (string, error) {
	var out []string
	lines := strings.Split(page, "\n")
	needsReal := false
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		out = append(out, line)
		switch m := showMark.FindStringSubmatch(line); {
		case line == fenceRun || line == fenceReal:
			needsReal = line == fenceReal
			for _, words := range fenced(lines[i+1:]) {
				if _, err := do(command{words: words, real: needsReal}); err != nil && !errors.Is(err, errSkipped) {
					return "", err
				}
			}
		case m != nil:
			end := i + 1
			for end < len(lines) && lines[end] != showEnd {
				end++
			}
			if end == len(lines) {
				return "", fmt.Errorf("line %d: no %q after it", i+1, showEnd)
			}
			table, err := do(command{words: strings.Fields(m[1]), show: true, real: needsReal})
			switch {
			case err == nil:
				out = append(out, "", strings.TrimSpace(table), "")
			case errors.Is(err, errSkipped):
				out = append(out, lines[i+1:end]...)
			default:
				return "", fmt.Errorf("line %d: %w", i+1, err)
			}
			i = end - 1
		}
	}

	return strings.Join(out, "\n"), nil
}

// fenced are the commands of a fence, a backslash at a line's end joining it
// with the next.
func fenced(lines []string) (commands [][]string) {
	var text strings.Builder
	for _, line := range lines {
		if line == fenceEnd {
			break
		}
		if head, more := strings.CutSuffix(line, `\`); more {
			text.WriteString(head)
			continue
		}
		text.WriteString(line)
		if words := fields(text.String()); len(words) > 0 {
			commands = append(commands, words)
		}
		text.Reset()
	}

	return commands
}

// fields splits a line at its blanks, those between single quotes aside. A
// comment ends it.
func fields(line string) (words []string) {
	var word strings.Builder
	quoted, any := false, false
	flush := func() {
		if any {
			words = append(words, word.String())
		}
		word.Reset()
		any = false
	}

	for _, r := range line {
		switch {
		case r == '\'':
			quoted, any = !quoted, true
		case r == ' ' && !quoted:
			flush()
		case r == '#' && !quoted && !any:
			flush()
			return words
		default:
			word.WriteRune(r)
			any = true
		}
	}

	flush()
	return words
}
