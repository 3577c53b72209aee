package importer

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/importer/commands"
	"github.com/benchrig/bench/internal/importer/drafts"
	"github.com/benchrig/bench/internal/importer/labels"
	"github.com/benchrig/bench/internal/importer/lenient"
	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/internal/importer/stated"
	"github.com/benchrig/bench/results"
)

// scanner reads results out of a text line by line: blocks, tables and JSON, with the
// headings, commands and notes around them. What precedes a result is collected in
// before, and becomes part of the next result under the same heading.
type scanner struct {
	name   string
	lines  []plain.Line
	at     int
	out    content
	counts map[results.LineKind]int // of kept lines

	fenced  bool
	section string        // the nearest heading
	title   string        // the nearest comment within a fence that is not a parameter
	before  nearby        // since the heading or the last result
	last    *stated.Entry // the result above, under the same heading
	carried nearby        // the client's command that holds for blocks without one of their own

	commas    plain.Commas
	simulated bool // a line marked all that follows as simulated by bench
}

// nearby is what precedes a result and belongs to it.
type nearby struct {
	server   *commands.Command
	client   *commands.Command
	args     [][2]string // of the client
	argsLine int
	settings []plain.Line // "Maximum request concurrency: 16"
	params   map[string]string
	drafting *results.Drafting
	stages   string // line of a log about the time that the stages of drafting take
	notes    []string

	simulated bool // the line above the block marks it as simulated
}

var (
	heading     = regexp.MustCompile(`^(#{1,6})\s+(.*\S)`)
	blockHead   = regexp.MustCompile(`^[=*# -]*(?:={4,}|#{1,6})\s*Serving Benchmark Result\s*=*$`)
	concurrency = regexp.MustCompile(`(?:^|[\s(-])c\s?=\s?(\d+)\)?$`)
	flagComment = regexp.MustCompile(`^(?:--)?([a-z][a-z0-9]*(?:[_-][a-z0-9]+)+)\s*[=: ]\s*(\d+(?:\.\d+)?)\b`)
	listMark    = regexp.MustCompile(`^\s*(?:[*+>-]\s+)*`)
)

// fromText reads a log, a README, the output of a terminal.
func fromText(name string, lines []plain.Line) content {
	s := &scanner{
		name: name, lines: lines, counts: map[results.LineKind]int{}, out: content{format: formatText},
	}
	for i, l := range lines {
		lines[i].Text = withoutQuote(l.Text)
	}
	withoutPrefixes(lines)
	plain.WithOuterPipes(lines)
	s.commas = plain.CommasIn(valuesOf(lines))
	for s.at = 0; s.at < len(s.lines) && len(s.out.entries) <= maxEntries; s.at++ {
		s.line(s.lines[s.at])
	}
	s.out.entries = mergeSame(s.out.entries)
	return s.out
}

// newEntry returns the entry of a result that begins at a line.
func (s *scanner) newEntry(format string, line int) *stated.Entry {
	e := stated.New(s.name, format, line)
	e.Commas = s.commas
	return e
}

// withoutQuote returns a line without the marks of a quotation in mail or Markdown.
func withoutQuote(text string) string {
	for strings.HasPrefix(text, ">") {
		text = strings.TrimPrefix(text[1:], " ")
	}
	return text
}

// plainText returns a line without blanks around it and the marks of a list.
func plainText(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || !strings.ContainsRune("*+-", rune(text[0])) {
		return text
	}
	return strings.TrimSpace(listMark.ReplaceAllString(text, ""))
}

func (s *scanner) keep(l plain.Line, kind results.LineKind) {
	if s.counts[kind] >= maxLines {
		if strings.TrimSpace(l.Text) != "" {
			s.out.omitted++
		}
		return
	}
	before := len(s.out.lines)
	s.out.lines = stated.AppendLine(s.out.lines, l.No, kind, l.Text)
	s.counts[kind] += len(s.out.lines) - before
}

// looksFigures reports whether a line reads like a measurement, or begins one that was
// cut off.
func looksFigures(text string) bool {
	if strings.Contains(text, `"build_commit"`) {
		return true
	}
	if !strings.ContainsAny(text, "0123456789") {
		return false
	}
	lower := strings.ToLower(text)
	for _, word := range []string{
		"ttft", "tpot", "itl", "e2el", "tok/s", "tokens/s", "req/s", " t/s", "throughput",
		"latency", `"avg_ts"`,
	} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}

func (s *scanner) line(l plain.Line) {
	text, raw := plainText(l.Text), strings.TrimSpace(l.Text)
	switch {
	case raw == "":
	case strings.HasPrefix(raw, "```"):
		s.fenced = !s.fenced
		if strings.Trim(raw, "`") != "" {
			s.keep(l, results.LineNote)
		}

		if s.fenced {
			s.title = ""
		}
	case isBlockHead(raw):
		s.block(l)
	case raw[0] == '#' && heading.MatchString(raw):
		s.heading(l, heading.FindStringSubmatch(raw))
	case strings.HasPrefix(raw, "|"):
		s.table()
	case strings.Contains(raw, "Namespace("):
		s.before.args, s.before.argsLine = commands.Namespace(raw), l.No
		s.keep(l, results.LineCommand)
	case s.command(l, text):
	case raw[0] == '{' && s.json(l, raw):
	default:
		s.note(l, text)
	}
}

// heading begins another section; within a fence, one mark begins a comment.
func (s *scanner) heading(l plain.Line, m []string) {
	s.keep(l, results.LineHeading)
	text := strings.Trim(m[2], " :*")
	section := !s.fenced && !isComment(m[1], text)
	if s.last = nil; section {
		s.title, s.before = "", nearby{}
	}
	if found := concurrency.FindStringSubmatchIndex(text); found != nil {
		s.setting(plain.Line{No: l.No, Text: "max_concurrency: " + text[found[2]:found[3]]})
		text = strings.Trim(text[:found[0]], " -(")
	}
	if section {
		s.section = text
		return
	}
	if found := flagComment.FindStringSubmatch(text); found != nil {
		name := strings.ReplaceAll(found[1], "-", "_")
		if _, isSetting := labels.Of(name, true); isSetting {
			s.setting(plain.Line{No: l.No, Text: name + ": " + found[2]})
		} else {
			if s.before.params == nil {
				s.before.params = map[string]string{}
			}
			s.before.params[name] = found[2]
		}
		if rest := strings.TrimSpace(text[len(found[0]):]); rest != "" {
			s.before.notes = append(s.before.notes, text)
		}
		return
	}

	if text != "" {
		s.title = text
	}
}

// isComment reports whether a line that looks like a heading is a comment of a shell,
// in a text without fences: a concurrency or a flag alone names no section.
func isComment(marks, text string) bool {
	return marks == "#" && (concurrency.FindString(text) == text && text != "" || flagComment.MatchString(text))
}

func (s *scanner) setting(l plain.Line) { s.before.settings = append(s.before.settings, l) }

// command takes a command line with its continuations. It returns false for other
// lines.
func (s *scanner) command(l plain.Line, text string) bool {
	whole, end := text, s.at
	for strings.HasSuffix(strings.TrimSpace(whole), `\`) && end+1 < len(s.lines) && end-s.at < 200 {
		end++
		whole = strings.TrimSuffix(strings.TrimSpace(whole), `\`) + " " + strings.TrimSpace(s.lines[end].Text)
	}

	c, ok := commands.In(whole)
	if !ok {
		return false
	}

	for _, part := range s.lines[s.at : end+1] {
		s.keep(part, results.LineCommand)
	}

	s.at = end
	if c.Client {
		s.before.client, s.before.args, s.before.argsLine = &c, c.Flags(), l.No
		if !c.Bench {
			s.carried = nearby{args: s.before.args, argsLine: l.No}
		}
	} else {
		s.before.server = &c
	}

	s.last = nil
	return true
}

// json takes a line that is a result by itself, and returns false for others. Tests of
// llama-bench that follow each other, one on each line, are one result.
func (s *scanner) json(l plain.Line, raw string) bool {
	all, kind := objectOnLine(l.No, raw)
	if kind == "" {
		return false
	}

	for (kind == formatLlamaJSON || kind == formatProgram) && s.at+1 < len(s.lines) {
		next := s.lines[s.at+1]
		more, another := objectOnLine(next.No, strings.TrimSpace(next.Text))
		if another != kind {
			break
		}
		all = append(all, more...)
		s.at++
	}

	read := fromObjects(s.name, all, "")
	for _, e := range read.entries {
		s.found(e)
	}
	s.out.lines = append(s.out.lines, read.lines...)
	return true
}

// objectOnLine returns the object that a line is, and its format; "": not known.
func objectOnLine(no int, raw string) (all []lenient.Object, kind string) {
	if !strings.HasPrefix(raw, "{") {
		return nil, ""
	}
	all, err := lenient.ObjectsIn([]byte(raw))
	if err != nil || len(all) != 1 {
		return nil, ""
	}
	all[0].Line = no
	return all, kindOf(all[0])
}

// note keeps a line of text, as a note of the result above or below it if there is one
// under the same heading.
func (s *scanner) note(l plain.Line, text string) {
	if strings.HasPrefix(text, results.SimulatedMark) {
		s.marked()
	}
	if label, value, ok := strings.Cut(text, ":"); ok && !strings.ContainsAny(label, "/|0123456789") {
		if t, understood := labels.Of(label, false); understood && !t.IsFigure() && t.Scale > 0 &&
			strings.TrimSpace(value) != "" {
			s.setting(l)
			s.keep(l, results.LineNote)
			return
		}
	}

	if d := drafts.In(text); d != nil {
		s.before.drafting = d
	}
	if drafts.IsStageTimes(text) {
		s.before.stages = text
	}

	kind := results.LineNote
	if looksFigures(text) && !plain.IsProgress(text) && s.before.drafting == nil {
		kind = results.LineNotFigures
	}

	s.keep(l, kind)
	if s.section == "" && s.title == "" || plain.IsProgress(text) || len(text) > 300 || isChatter(text) {
		return // of a log, not beside anything
	}
	if s.last != nil {
		if len(s.last.Notes) < stated.MaxNotes {
			s.last.Notes = append(s.last.Notes, text)
		}
		return
	}

	if len(s.before.notes) < stated.MaxNotes {
		s.before.notes = append(s.before.notes, text)
	}
}

// marked takes bench's mark of simulated figures: right above a block it is about that
// block, elsewhere about all that follows.
func (s *scanner) marked() {
	for _, l := range s.lines[s.at+1:] {
		if next := strings.TrimSpace(l.Text); next != "" {
			s.simulated = s.simulated || !isBlockHead(next)
			s.before.simulated = s.before.simulated || isBlockHead(next)
			return
		}
	}
}

// isChatter reports whether a line is one that programs print with every run.
func isChatter(text string) bool {
	for _, begin := range []string{
		"Starting initial", "Initial test run", "Waiting for endpoint", "Traffic request",
		"You are using the default legacy", "Merges were not", "INFO ", "WARNING ", "WARNING:", "ggml_", "Device ",
		"Skipping endpoint", "Starting main", "tip: ",
	} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return strings.Trim(text, "=-| ") == ""
}

// found takes a result, with what precedes it.
func (s *scanner) found(e *stated.Entry) {
	b := s.before
	maps.Copy(e.Params, b.params)
	for _, l := range b.settings {
		label, value, _ := strings.Cut(plainText(l.Text), ":")
		e.Take(label, value, l.No, false)
	}

	if b.args != nil {
		e.Settle(b.args, b.argsLine)
		if b.client == nil || !b.client.Bench {
			s.carried = b
		}
	} else if s.carried.args != nil && e.Table == 0 && !e.OfProgram() && e.Own == nil {
		e.Settle(e.Fitting(s.carried.args), s.carried.argsLine)
	}

	if b.server != nil {
		e.Argv, e.Env = b.server.Argv, b.server.Env
	}
	if b.client != nil && b.client.Bench {
		e.Argv, e.Env = b.client.Argv, b.client.Env
	}

	e.Simulated = e.Simulated || b.simulated || s.simulated
	if b.drafting != nil {
		e.Drafting = new(*b.drafting) // several objects on lines may follow it
		if b.stages != "" {
			e.Drafting.LogLines = append(slices.Clone(e.Drafting.LogLines), b.stages)
		}
	}
	e.Notes = append(e.Notes, b.notes...)
	e.Variant = cmp.Or(e.Variant, s.title, s.section)
	s.out.entries = append(s.out.entries, e)
}
