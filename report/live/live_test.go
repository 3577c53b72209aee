package live

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"go.uber.org/goleak"

	"github.com/benchrig/bench/internal/goldentest"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is now in all tests.
func clock() time.Time { return time.Date(2026, 1, 31, 22, 10, 0, 0, time.UTC) }

// night is a run of variants x points x repeats of which some has been done.
func night(variants, points, repeats int) *Board {
	run := &results.Run{Manifest: results.Manifest{Scenario: "night", Run: "20260131-220000-ab12"}}
	var events []results.Event
	event := func(e results.Event) {
		e.Time = clock().Add(-time.Minute)
		events = append(events, e)
	}
	event(results.Event{Kind: results.RunStarted})
	for r := 1; r <= repeats; r++ {
		for v := range variants {
			for p := range points {
				variant, point := fmt.Sprintf("tp%d", 1<<v), fmt.Sprintf("c%d", 1<<p)
				run.Manifest.Planned = append(run.Manifest.Planned, results.StepRef{
					ID: fmt.Sprintf("%s_%s_r%d", variant, point, r), Variant: variant, Point: point, Repeat: r,
					Attempt: 1,
				})
			}
		}
	}
	verdicts := []results.Verdict{results.OK, results.OK, results.Suspect, results.Failed, results.NotRun}
	for i, ref := range run.Manifest.Planned[:min(len(run.Manifest.Planned)/2, 9)] {
		event(results.Event{Kind: results.StepStarted, Step: ref.ID, Attempt: 1, Life: "01-" + ref.Variant})
		e := results.Event{Kind: results.StepFinished, Step: ref.ID, Attempt: 1, Verdict: verdicts[i%len(verdicts)]}
		if e.Verdict == results.Failed || e.Verdict == results.NotRun {
			e.Failure = results.Failf(results.FailOutOfMemory, "CUDA out of memory")
		}
		event(e)
	}
	last := run.Manifest.Planned[min(len(run.Manifest.Planned)/2, 9)]
	event(results.Event{Kind: results.StepStarted, Step: last.ID, Attempt: 1, Life: "01-" + last.Variant})
	run.Events = events
	b := newBoard(run)
	result := &results.Result{
		Step: run.Manifest.Planned[0], Verdict: results.OK,
		Figures: &results.Figures{Asked: 64, Completed: 64, OutputThroughput: new(1234.5)},
	}
	result.Figures.TTFT.Median, result.Figures.TPOT.Median = new(0.2104), new(0.01123)
	b.Result(result)
	return b
}

// measuring is what a run says in the middle of a step.
func measuring(b *Board, gpus int) results.Live {
	var ref results.StepRef
	for _, s := range b.Steps {
		if s.State == Running {
			ref = s.StepRef
		}
	}
	l := results.Live{
		UpdatedAt: clock().Add(-time.Second), RunForS: 605, Phase: results.LiveMeasuring, PhaseS: 130,
		Share: new(0.3125), Step: &ref, Life: "01-" + ref.Variant,
		LeftS: new(286.0), RunS: new(4000.0), LeftBy: results.LeftByRun,
		Requests: &results.LiveRequests{Done: 320, Total: new(1024), InFlight: 8},
		Tokens: &results.LiveTokens{
			PerS: new(1203.4), TTFT: results.LiveTimes{N: 320, P50: new(0.21), P99: new(0.9)},
			TPOT: results.LiveTimes{N: 320, P50: new(0.0112)},
		},
		Server: &results.LiveServer{Running: new(8.0), Waiting: new(0.0), KVUse: new(0.434)},
		LogOf:  "lives/01-" + ref.Variant + "/server-0.log",
		LogTail: []string{"INFO first", "INFO \x1b[31mred\x1b[0m and \x1b]0;title\x07wide 漢字", "INFO " +
			strings.Repeat("long ", 40), "INFO last"},
	}
	for i := range gpus {
		l.GPUs = append(l.GPUs, results.LiveGPU{
			Index: i, Name: "MI300X", VRAMUsed: new(int64(150 << 30)), VRAMTotal: new(int64(192 << 30)),
			PowerW: new(612.0), PowerLimitW: new(750.0), Busy: new(0.99), HottestC: new(71.0),
		})
	}
	if gpus > 2 {
		l.GPUs[1].Throttle = []string{results.ThrottleThermal}
		l.GPUs[2] = results.LiveGPU{Index: 2, Name: "MI300X", VRAMTotal: new(int64(192 << 30))}
	}
	return l
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	goldentest.Compare(t, filepath.Join("testdata", name), got, *update)
}

// fakeSource gives a view and a log.
type fakeSource struct {
	view View
	err  error
	note string
}

func (s *fakeSource) View() (View, error) { return s.view, s.err }
func (s *fakeSource) Note() string        { return s.note }
func (s *fakeSource) Log(life string) ([]string, string, error) {
	if life == "gone" {
		return nil, "", errors.New("there is no log")
	}
	var lines []string
	for i := range 100 {
		lines = append(lines, fmt.Sprintf("line %d of %s", i, life))
	}
	return lines, "lives/" + life + "/server-0.log", nil
}

// fakeActions count what keys asked for.
type fakeActions struct {
	story []string
	idle  bool
}

func (a *fakeActions) Skip() bool {
	a.story = append(a.story, "skip")
	return !a.idle
}

func (a *fakeActions) StopAfterStep(yes bool) {
	a.story = append(a.story, fmt.Sprint("stop after step ", yes))
}
func (a *fakeActions) Interrupt() { a.story = append(a.story, "interrupt") }

// screenOf is a screen of a size after its first look.
func screenOf(source Source, actions Actions, width, height int) Screen {
	s := NewScreen(source, actions, true)
	s = send(s, tea.WindowSizeMsg{Width: width, Height: height})
	return send(s, s.look())
}

func send(s Screen, msg tea.Msg) Screen {
	next, _ := s.Update(msg)
	return next.(Screen)
}

// press sends keys and what follows from them, but for the next look.
func press(s Screen, keys ...string) (Screen, bool) {
	quit := false
	for _, key := range keys {
		next, cmd := s.Update(keyOf(key))
		s = next.(Screen)
		if cmd == nil {
			continue
		}
		msg := cmd()
		if _, quit = msg.(tea.QuitMsg); !quit {
			s = send(s, msg)
		}
	}
	return s, quit
}

func keyOf(key string) tea.KeyPressMsg {
	special := map[string]rune{
		"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
		"home": tea.KeyHome, "end": tea.KeyEnd, "esc": tea.KeyEscape, "pgup": tea.KeyPgUp,
	}
	if code, ok := special[key]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	if key == "ctrl+c" {
		return tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
	}
	return tea.KeyPressMsg{Code: rune(key[0]), Text: key}
}

func TestFrames(t *testing.T) {
	presence := Presence{Now: clock(), Held: true, Known: true}
	small, large := night(3, 4, 2), night(20, 14, 3)
	launch := measuring(small, 0)
	launch.Phase, launch.PhaseS, launch.UsualS, launch.LimitS, launch.Message, launch.Share,
		launch.Steps = results.LiveLaunching, 41, new(95.0), new(1800.0), "weights 12/30", new(0.4), 4
	launch.Requests, launch.Tokens, launch.Server, launch.LeftBy = nil, nil, nil, results.LeftByPlan
	dead := measuring(small, 0)
	dead.UpdatedAt = clock().Add(-2 * time.Hour)
	tests := []struct {
		name          string
		view          View
		width, height int
	}{
		{"80x24", makeView(small, "results/night/run", []results.Live{measuring(small, 2)}, presence), 80, 24},
		{"60x20", makeView(small, "results/night/run", []results.Live{measuring(small, 2)}, presence), 60, 20},
		{"large-matrix", makeView(large, "results/night/run", []results.Live{measuring(large, 8)}, presence), 80, 24},
		{"wide", makeView(large, "results/night/run", []results.Live{measuring(large, 8)}, presence), 200, 60},
		{"launching", makeView(small, "results/night/run", []results.Live{launch}, presence), 80, 24},
		{
			"dead", makeView(small, "results/night/run", []results.Live{dead}, Presence{Now: clock(), Known: true}),
			80, 24,
		},
		{"tiny", makeView(small, "results/night/run", []results.Live{measuring(small, 2)}, presence), 10, 3},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := screenOf(&fakeSource{view: test.view}, &fakeActions{}, test.width, test.height)
			for i, l := range s.Lines() {
				if w := lipgloss.Width(l.bare()); w > test.width {
					t.Errorf("line %d is %d cells wide, the terminal has %d", i, w, test.width)
				}
			}
			if n := len(s.Lines()); n > test.height {
				t.Errorf("%d lines, the terminal has %d", n, test.height)
			}
			golden(t, "frame-"+test.name+".txt", s.Text())
		})
	}
}

// Whatever the size, a frame fits, and nothing breaks.
func TestAnySize(t *testing.T) {
	b := night(9, 11, 3)
	view := makeView(b, "d", []results.Live{measuring(b, 8)}, Presence{Now: clock(), Held: true, Known: true})
	for width := 1; width < 140; width += 7 {
		for height := 1; height < 50; height += 3 {
			s := screenOf(&fakeSource{view: view}, &fakeActions{}, width, height)
			for _, key := range []string{"", "right", "down", "end", "?", "l"} {
				if key != "" {
					s, _ = press(s, key)
				}
				lines := s.Lines()
				if len(lines) > height {
					t.Fatalf("%dx%d after %q: %d lines", width, height, key, len(lines))
				}
				for _, l := range lines {
					if got := lipgloss.Width(l.bare()); got > width {
						t.Fatalf("%dx%d after %q: a line of %d cells", width, height, key, got)
					}
				}
			}
		}
	}
}

func TestKeys(t *testing.T) {
	b := night(3, 4, 2)
	view := makeView(b, "d", []results.Live{measuring(b, 0)}, Presence{Now: clock(), Held: true, Known: true})
	idle := view
	idle.Now = nil
	tests := []struct {
		name  string
		view  View
		keys  []string
		looks bool // no actions
		want  string
		quit  bool
		shows string
	}{
		{"skip asks", view, []string{"s"}, false, "[]", false, "skip "},
		{"skip and yes", view, []string{"s", "y"}, false, "[skip]", false, "measurements are kept"},
		{"skip and no", view, []string{"s", "n"}, false, "[]", false, "nothing was changed"},
		{"nothing to skip", idle, []string{"s"}, false, "[]", false, "no step runs now"},
		{
			"stop after this one", view,
			[]string{"S"},
			false, "[stop after step true]", false,
			"the run stops after this step",
		},
		{
			"and on", view,
			[]string{"x", "x"},
			false, "[stop after step true stop after step false]", false,
			"the run continues",
		},
		{"ctrl+c", view, []string{"ctrl+c"}, false, "[interrupt]", false, ""},
		{"q asks", view, []string{"q"}, false, "[]", false, "stop the run now"},
		{"q and yes", view, []string{"q", "y"}, false, "[interrupt]", false, ""},
		{"ctrl+c at a question", view, []string{"s", "ctrl+c"}, false, "[interrupt]", false, ""},
		{"who looks leaves", view, []string{"q"}, true, "[]", true, ""},
		{"who looks cannot skip", view, []string{"s"}, true, "[]", false, "view only"},
		{"help", view, []string{"?"}, false, "[]", false, "log of the chosen step's server"},
		{"log", view, []string{"l"}, false, "[]", false, "line 99 of 01-tp4"},
		{"log from its beginning", view, []string{"l", "home"}, false, "[]", false, "line 0 of 01-tp4"},
		{"log and back", view, []string{"l", "q"}, false, "[]", false, "night"},
		{
			"chosen step", view,
			[]string{"home", "up", "up"},
			false, "[]", false,
			"tp1 c1 r1: done, 64/64 requests, 1234 tok/s",
		},
	}
	for _, test := range tests {
		if test.name == "skip asks" {
			test.shows = "skip " + view.Now.Step + "? y/n"
		}
		actions := &fakeActions{}
		var given Actions = actions
		if test.looks {
			given = nil
		}
		s, quit := press(screenOf(&fakeSource{view: test.view}, given, 80, 24), test.keys...)
		if got := fmt.Sprint(actions.story); got != test.want || quit != test.quit {
			t.Errorf("%s: keys %q did %s, quit %t, want %s, %t", test.name, test.keys, got, quit, test.want, test.quit)
		}
		if !strings.Contains(s.Text(), test.shows) {
			t.Errorf("%s: the screen does not show %q:\n%s", test.name, test.shows, s.Text())
		}
	}
}

func TestPrintable(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "abc", "abc"},
		{"colour", "\x1b[1;31mred\x1b[0m", "red"},
		{"title", "\x1b]0;evil\x07ok", "ok"},
		{"string terminator", "\x1b]8;;http://x\x1b\\link", "link"},
		{"cut off", "ab\x1b[12", "ab"},
		{"control", "a\x00b\x08c\rd", "abcd"},
		{"tab", "a\tb", "a    b"},
		{"wide", "漢字", "漢字"},
		{"not utf-8", "a\xffb", "a\ufffdb"},
		{"c1", "a\u009b31mb", "ab"},
	}
	for _, test := range tests {
		if got := printable(test.in); got != test.want {
			t.Errorf("%s: printable(%q) = %q, want %q", test.name, test.in, got, test.want)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("\x1b[31mx\x1b]0;t\x07\x9b")
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range printable(text) {
			if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
				t.Errorf("printable(%q) has %U", text, r)
			}
		}
	})
}

func TestWords(t *testing.T) {
	for seconds, want := range map[float64]string{
		0: "0 s", 59.4: "59 s", 61: "1 min 01 s", 3600: "1 h 00 min",
		90000: "1 d 1 h", -3: "0 s",
	} {
		if got := text.Lasting(seconds); got != want {
			t.Errorf("text.Lasting(%g) = %q, want %q", seconds, got, want)
		}
	}
	for seconds, want := range map[float64]string{
		20: "less than a minute", 300: "5 min", 5000: "1 h 23 min",
		50000: "14 h",
	} {
		if got := about(seconds); got != want {
			t.Errorf("about(%g) = %q, want %q", seconds, got, want)
		}
	}
	if got := number(nil) + milli(nil) + text.Percent(nil) + text.Number(nil, 1, 0) +
		text.Gibibytes(nil); got != "-----" {
		t.Errorf("what is not known is %q, want dashes", got)
	}
}

func TestStateOfRun(t *testing.T) {
	fresh, old := results.Live{UpdatedAt: clock().Add(-2 * time.Second), RunForS: 60},
		results.Live{UpdatedAt: clock().Add(-time.Hour)}
	open, ended, early := night(1, 2, 1), night(1, 2, 1), night(1, 2, 1)
	ended.Event(results.Event{Kind: results.RunFinished, Time: clock()})
	early.Event(results.Event{
		Kind: results.RunFinished, Time: clock(),
		Failure: results.Failf(results.FailInterrupted, "stopped by SIGINT"),
	})
	cluster := night(1, 2, 1)
	cluster.Manifest.Groups = []results.Group{{ID: "g001"}}
	tests := []struct {
		name  string
		board *Board
		lives []results.Live
		held  bool
		want  RunState
		words string
	}{
		{"runs", open, []results.Live{fresh}, true, RunActive, "running for 1 min 00 s"},
		{"begins", open, nil, true, RunActive, "running"},
		{"on another machine", open, []results.Live{fresh}, false, RunActive, "running for"},
		{"hangs", open, []results.Live{old}, true, RunSilent, "silent for 1 h 00 min"},
		{"was killed", open, []results.Live{old}, false, RunDead, "no process runs it; last sign 1 min 00 s ago"},
		{"ended", ended, nil, false, RunEnded, "ended"},
		{"ended early", early, nil, false, RunStopped, "stopped by SIGINT"},
		{"writes its report", ended, nil, true, RunEnded, "ended"},
		{"waits for jobs", cluster, nil, false, RunWaits, "no job"},
	}
	for _, test := range tests {
		v := makeView(test.board, "d", test.lives, Presence{Now: clock(), Held: test.held, Known: true})
		if v.State != test.want || !strings.Contains(v.StateText, test.words) {
			t.Errorf("%s: Make() is %q, %q, want %q, %q", test.name, v.State, v.StateText, test.want, test.words)
		}
		if running := v.Counts[Running]; (v.State == RunActive || v.State == RunSilent) != (running == 1) {
			t.Errorf("%s: %d steps run", test.name, running)
		}
	}
}

// A retried step runs again, whatever its earlier attempt was.
func TestBoardRetries(t *testing.T) {
	b := night(1, 2, 1)
	id := b.Steps[0].ID
	b.Event(results.Event{Kind: results.StepStarted, Step: id, Attempt: 1})
	if got := b.Event(results.Event{
		Kind: results.StepFinished, Step: id, Verdict: results.Failed,
		Failure: results.Failf(results.FailExited, "x"),
	}); got != id {
		t.Errorf("Event(end) = %q, want %q", got, id)
	}
	b.Event(results.Event{Kind: results.StepStarted, Step: id, Attempt: 2})
	b.Result(&results.Result{Step: results.StepRef{ID: id, Attempt: 1}, Verdict: results.Failed})
	if s := b.Steps[0]; s.State != Running || s.Attempt != 2 {
		t.Errorf("step is %s, attempt %d, want running, 2", s.State, s.Attempt)
	}
	b.Event(results.Event{Kind: results.RunResumed})
	if s := b.Steps[0]; s.State != Pending {
		t.Errorf("step is %s after a resume, want pending", s.State)
	}
}

func TestPlainLines(t *testing.T) {
	b := night(2, 2, 1)
	l := measuring(b, 0)
	var out strings.Builder
	p := Plain{Out: &out}
	at := clock()
	tell := func() {
		p.Print(makeView(b, "d", []results.Live{l}, Presence{Now: clock(), Held: true, Known: true}), at, true)
	}
	tell()
	at = at.Add(5 * time.Second)
	tell() // nothing new
	at = at.Add(6 * time.Second)
	tell() // time has passed
	b.Event(results.Event{Kind: results.StepFinished, Step: l.Step.ID, Verdict: results.OK})
	tell()
	golden(t, "plain.txt", out.String())
}

func TestSnapshot(t *testing.T) {
	b := night(3, 4, 2)
	var out strings.Builder
	Snapshot(&out, makeView(b, "d", []results.Live{measuring(b, 3)}, Presence{Now: clock(), Held: true, Known: true}),
		false)
	golden(t, "snapshot.txt", out.String())
}

// Colours are the terminal's business; what they say is said by symbols, too.
func TestSymbolsDiffer(t *testing.T) {
	for _, unicode := range []bool{true, false} {
		seen := map[string]StepState{}
		for _, s := range states() {
			m := marksOf(unicode)[s]
			if other, twice := seen[m]; twice || lipgloss.Width(m) != 1 {
				t.Errorf("symbol %q of %s is %d wide, and that of %q too", m, s, lipgloss.Width(m), other)
			}
			seen[m] = s
		}
	}
}

// docs/operations.md shows a frame as it is drawn.
func TestDocs(t *testing.T) {
	frame, err := os.ReadFile("testdata/frame-80x24.txt")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), strings.TrimSpace(string(frame))) {
		t.Error("docs/operations.md does not show testdata/frame-80x24.txt")
	}
}

// Names and messages come from a folder that anybody may have written: none of them
// commands the terminal, in whatever form the run is shown.
func TestNothingCommandsTheTerminal(t *testing.T) {
	const evil = "\x1b]0;title\x07\x1b[2J\u009b31m\r\u202ex"
	b := night(2, 2, 1)
	b.Manifest.Scenario += evil
	b.Manifest.Run += evil
	for i := range b.Steps {
		b.Steps[i].Variant += evil
		b.Steps[i].Point += evil
		b.Steps[i].Life = evil
	}
	l := measuring(b, 1)
	l.Step.Variant += evil
	l.Phase, l.LogOf, l.GPUs[0].Name = evil, evil, evil
	view := makeView(b, "d"+evil, []results.Live{l}, Presence{Now: clock(), Held: true, Known: true})

	var snapshot, lines strings.Builder
	Snapshot(&snapshot, view, true)
	p := Plain{Out: &lines}
	p.Print(view, clock(), true)
	screen := screenOf(&fakeSource{view: view, note: evil}, nil, 200, 50)

	colours := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for name, shown := range map[string]string{
		"snapshot": snapshot.String(), "lines": lines.String(), "screen": screen.View().Content, "text": screen.Text(),
	} {
		for _, r := range colours.ReplaceAllString(shown, "") {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Errorf("%s: %U is shown", name, r)
				break
			}
		}
	}
}
