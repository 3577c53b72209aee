package live

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/benchrig/bench/internal/text"
)

// refresh is the time between two looks at the run.
const refresh = time.Second

// Actions are what the keys of a screen can do to a run. They return at once.
type Actions interface {
	// Skip ends what runs now; false: there is nothing to skip.
	Skip() bool
	// StopAfterStep says whether the run ends after the step that runs.
	StopAfterStep(yes bool)
	// Interrupt is what Ctrl-C does to a run.
	Interrupt()
}

// Source is where a screen gets what it shows. Its methods may take a moment.
type Source interface {
	View() (View, error)
	Log(life string) (lines []string, path string, err error)
	// Note is the latest message that is worth a line; "": none.
	Note() string
}

// mode is what a screen shows.
type mode int

const (
	overview mode = iota
	logView
	helpView
	resultsView
)

// question is one that waits for an answer.
type question int

const (
	nothing question = iota
	skipIt
	quitIt
)

// Screen is the live view on a terminal, as a model of bubbletea.
type Screen struct {
	source  Source
	actions Actions // nil: it only looks
	unicode bool

	view          View
	err           error
	width, height int
	mode          mode
	question      question
	cursor        cursor
	moved         bool // the user chose a step; else the one that runs is
	soon          bool // the run ends after the step
	note          string
	noted         int // looks since the note came

	log     []string
	logPath string
	logLife string
	logTop  int // first line in sight
	logEnd  bool
}

// NewScreen is a screen before its first look. actions nil: the keys that
// change the run are not there. unicode: the terminal has more than ASCII.
func NewScreen(source Source, actions Actions, unicode bool) Screen {
	const width, height = 80, 24
	return Screen{source: source, actions: actions, unicode: unicode, width: width, height: height}
}

// The messages of a screen to itself.
type (
	tickMsg struct{}
	viewMsg struct {
		view View
		note string
		err  error
	}
	logMsg struct {
		life, path string
		lines      []string
		err        error
	}
)

// Init begins to look.
func (s Screen) Init() tea.Cmd { return s.look }

func (s Screen) look() tea.Msg {
	view, err := s.source.View()
	return viewMsg{view, s.source.Note(), err}
}

func (s Screen) readLog(life string) tea.Cmd {
	return func() tea.Msg {
		lines, path, err := s.source.Log(life)
		return logMsg{life, path, lines, err}
	}
}

// Update takes in a key, a look, or the terminal's size.
func (s Screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = msg.Width, msg.Height
	case tickMsg:
		return s, s.look
	case viewMsg:
		return s.seen(msg)
	case logMsg:
		s.gotLog(msg)
	case tea.KeyPressMsg:
		return s.key(msg.String())
	}
	return s, nil
}

// seen takes in a look and has the next one follow.
func (s Screen) seen(msg viewMsg) (tea.Model, tea.Cmd) {
	s.err = msg.err
	if msg.err == nil {
		s.view = msg.view
	}

	const shownFor = 5 // looks
	if s.noted++; msg.note != "" {
		s.note, s.noted = msg.note, 0
	} else if s.noted > shownFor {
		s.note = ""
	}

	if !s.moved {
		s.cursor = s.cursor.at(s.view)
	}

	s.cursor = s.cursor.within(s.view)
	next := tea.Tick(refresh, func(time.Time) tea.Msg { return tickMsg{} })
	if s.mode == logView && s.view.State == RunActive {
		return s, tea.Batch(next, s.readLog(s.logLife))
	}

	return s, next
}

func (s *Screen) gotLog(msg logMsg) {
	if msg.life != s.logLife {
		return
	}
	s.log, s.logPath = msg.lines, msg.path
	if msg.err != nil {
		s.log = []string{msg.err.Error()}
	}
	if s.logEnd {
		s.logTop = len(s.log)
	}
	s.clampLog()
}

// key does what a key asks for.
func (s Screen) key(key string) (tea.Model, tea.Cmd) {
	s.note, s.noted = "", 0
	if key == "ctrl+c" {
		return s.interrupt()
	}
	if s.question != nothing {
		return s.answer(key)
	}
	if s.mode != overview {
		return s.keyOutsideMatrix(key)
	}

	switch key {
	case "?", "f1":
		s.mode = helpView
	case "q", "esc":
		if s.actions != nil {
			s.question = quitIt
			return s, nil
		}
		return s, tea.Quit
	case "l", "enter":
		return s.openLog()
	case "t":
		s.mode = resultsView
	case "s", "x", "S", "X":
		return s.change(key)
	default:
		if c, ok := s.cursor.moved(key, s.view); ok {
			s.cursor, s.moved = c, true
		} else if key == "f" {
			s.moved, s.cursor = false, s.cursor.at(s.view)
		}
	}

	return s, nil
}

// change is for the keys that do something to the run.
func (s Screen) change(key string) (tea.Model, tea.Cmd) {
	switch {
	case s.actions == nil:
		s.note = "view only: the keys work where the run was started"
	case key == "s":
		if s.view.Now == nil || s.view.Now.Step == "" {
			s.note = "no step runs now"
			break
		}
		s.question = skipIt
	default:
		s.soon = !s.soon
		s.actions.StopAfterStep(s.soon)
		s.note = "the run continues after this step"
		if s.soon {
			s.note = "the run stops after this step; the rest can be resumed (press x again to continue)"
		}
	}

	return s, nil
}

// answer is for the question that waits.
func (s Screen) answer(key string) (tea.Model, tea.Cmd) {
	asked := s.question
	s.question = nothing
	if key != "y" && key != "Y" {
		s.note = "nothing was changed"
		return s, nil
	}
	if asked == quitIt {
		return s.interrupt()
	}
	s.note = "skipped; measurements are kept"
	if !s.actions.Skip() {
		s.note = "nothing to skip now"
	}
	return s, nil
}

func (s Screen) interrupt() (tea.Model, tea.Cmd) {
	s.question = nothing
	if s.actions == nil {
		return s, tea.Quit
	}
	s.actions.Interrupt()
	return s, nil
}

func (s Screen) keyOutsideMatrix(key string) (tea.Model, tea.Cmd) {
	page := max(1, s.height-3)
	switch key {
	case "q", "esc", "l", "?", "enter", "t":
		s.mode = overview
		return s, nil
	case "up", "k":
		s.logTop--
	case "down", "j":
		s.logTop++
	case "pgup", "b":
		s.logTop -= page
	case "pgdown", "space":
		s.logTop += page
	case "home", "g":
		s.logTop = 0
	case "end", "G":
		s.logTop = len(s.log)
	}

	s.clampLog()
	return s, nil
}

// clampLog keeps the log in sight, and remembers whether its end is.
func (s *Screen) clampLog() {
	last := max(0, len(s.log)-max(1, s.height-2))
	s.logEnd = s.logTop >= last
	s.logTop = max(0, min(s.logTop, last))
}

// openLog opens the log of the chosen step's servers, else of those that run.
func (s Screen) openLog() (tea.Model, tea.Cmd) {
	f := frame{view: s.view, cursor: s.cursor}
	life := ""
	if step := f.step(); step != nil && s.moved {
		life = step.Life
	}

	if life == "" && s.view.Now != nil && !s.moved {
		life = s.view.Now.Life
	}

	if life == "" {
		if step := f.step(); step != nil {
			life = step.Life
		}
	}

	if life == "" {
		s.note = "this step has no server log yet"
		return s, nil
	}

	s.mode, s.logLife, s.log, s.logPath, s.logEnd = logView, life, nil, "", true

	return s, s.readLog(life)
}

// View draws the screen.
func (s Screen) View() tea.View {
	v := tea.NewView(paint(s.Lines()))
	v.AltScreen = true
	return v
}

// Text is the screen without colours, a line for each row.
func (s Screen) Text() string {
	var out strings.Builder
	for _, l := range s.Lines() {
		out.WriteString(l.bare() + "\n")
	}
	return out.String()
}

// Lines are the rows of the screen.
func (s Screen) Lines() []line {
	const leastWidth, leastHeight = 20, 6
	switch {
	case s.width < leastWidth || s.height < leastHeight:
		return []line{plainLine(cut("too small", s.width))}
	case s.mode == helpView:
		return s.page("keys", help(s.actions != nil, s.unicode))
	case s.mode == resultsView:
		return s.page("results so far", resultsTable(s.view, s.width, s.unicode))
	case s.mode == logView:
		return s.page(s.logPath, s.log[s.logTop:])
	case s.view.Name == "" && s.err == nil:
		return s.page("reading", nil)
	}

	f := frame{
		view: s.view, width: s.width, height: s.height, unicode: s.unicode, cursor: s.cursor, note: s.note,
		asked: s.asks(), control: s.actions != nil,
	}

	if s.err != nil {
		f.note = "the run folder cannot be read: " + s.err.Error()
	}

	return f.lines()
}

// asks is the question that waits, in words.
func (s Screen) asks() string {
	switch s.question {
	case quitIt:
		return "stop the run now, as Ctrl-C does?"
	case skipIt:
		n := s.view.Now
		if n != nil && n.Steps > 0 {
			return fmt.Sprintf("skip the launch of %s and its %s?", variantOf(s.view.Live.Step),
				text.Count(n.Steps, "step"))
		}
		if n != nil {
			return "skip " + n.Step + "?"
		}
	case nothing:
	}

	return ""
}

// page is a screen with a title, lines and a hint.
func (s Screen) page(title string, rows []string) []line {
	f := frame{width: s.width, height: s.height, unicode: s.unicode}
	lines := []line{f.rule(title)}
	for _, row := range rows {
		if len(lines) == s.height-1 {
			break
		}
		lines = append(lines, plainLine(row))
	}

	for len(lines) < s.height-1 {
		lines = append(lines, line{})
	}

	hint := "q back  arrows, pgup, pgdn, home, end scroll"
	if s.mode == overview {
		hint = ""
	}

	lines = append(lines, line{{hint, faint}})
	for i := range lines {
		lines[i] = lines[i].fit(s.width)
	}

	return lines
}

// help explains symbols and keys.
func help(control, unicode bool) []string {
	m := marksOf(unicode)
	lines := []string{
		fmt.Sprintf("%s done   %s suspect   %s failed   %s running   %s pending", m[Done], m[Suspect], m[Failed],
			m[Running], m[Pending]),
		fmt.Sprintf("%s not run or interrupted   %s not needed", m[NotRun], m[NotNeeded]),
		"",
		"arrows     choose a step; its details are below the matrix",
		"f          choose the step that runs, and follow it",
		"t          results so far: a table with bars, and back",
		"l, enter   log of the chosen step's server, and back",
	}

	if control {
		lines = append(lines,
			"s          skip what runs now: a step, or a launch with its steps",
			"x, S       stop the run after this step; again: continue",
			"ctrl+c     stop the run now, cleanly; again: kill immediately",
			"q          the same as ctrl+c, after a question")
	} else {
		lines = append(lines, "q          leave; the run continues")
	}

	return append(lines, "", "A dash is an unknown value. TTFT and TPOT cover the requests",
		"completed so far; the report may differ.")
}

var _ Source = (*FolderSource)(nil)

// FolderSource shows a run folder.
type FolderSource struct {
	*Follower
	Hide  func(string) string // takes secrets out of logs; nil: there are none
	Notes func() string       // nil: there are none
}

// Log reads the end of a server's log.
func (s *FolderSource) Log(life string) ([]string, string, error) {
	return serverLogOf(s.Folder(), life, s.Hide)
}

// Note is the latest message.
func (s *FolderSource) Note() string {
	if s.Notes == nil {
		return ""
	}
	return printable(s.Notes())
}
