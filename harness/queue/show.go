package queue

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benchrig/bench/harness/state"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report/table"
)

// EntriesSince are the entries that are to be run, and those that ended since a
// moment; never nil.
func (q *Queue) EntriesSince(since time.Time) ([]Entry, error) {
	entries, err := q.Entries()
	return slices.DeleteFunc(append([]Entry{}, entries...), func(e Entry) bool {
		return !e.Open() && e.Ended.Before(since)
	}), err
}

// Print shows the entries, and which is next. owner is who carries them out; nil:
// nobody.
func Print(p *table.Printer, entries []Entry, owner *state.Owner) {
	if len(entries) == 0 {
		p.Line("the queue is empty; to add a scenario: bench queue add SCENARIO")
		return
	}

	t := table.Table{Columns: []table.Column{
		table.Numbers("id", ""), table.Words("scenario"), table.Words("state"), table.Words("since"),
		table.Words("result"),
	}}
	for _, e := range entries {
		t.Rows = append(t.Rows, table.NewRow(strconv.Itoa(e.ID), e.title(), e.standing(owner != nil),
			clock(e.since()), e.outlook()))
	}
	p.Table(t)

	p.Line("")
	p.Wrapped("", nextText(entries, owner))
}

// title is the scenario with its overrides.
func (e Entry) title() string {
	words := e.Name()
	if len(e.Sets) > 0 {
		words += " --set " + strings.Join(e.Sets, " --set ")
	}
	return text.Clean(words)
}

// standing is the state as people read it. Nothing runs where there is no runner.
func (e Entry) standing(working bool) string {
	switch {
	case e.State == Running && !working:
		return "killed"
	case e.State == Queued && e.Dir != "":
		return "stopped"
	case e.Code != nil && *e.Code != 0:
		return fmt.Sprintf("%s (exit code %d)", e.State, *e.Code)
	}
	return string(e.State)
}

// since is when the entry came into its state.
func (e Entry) since() time.Time {
	switch {
	case e.State == Running:
		return e.Began
	case !e.Ended.IsZero():
		return e.Ended
	}
	return e.Added
}

// outlook is what came of an entry, or what is known of it before.
func (e Entry) outlook() string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }

	if e.Result != "" {
		add("%s", text.Clean(e.Result))
	}
	if e.Open() {
		if e.Dir == "" {
			add("about %s by the plan", time.Duration(e.EstimateS*float64(time.Second)).Round(time.Second))
		}
		if !e.StartAt.IsZero() {
			add("starts at %s", clock(e.StartAt))
		}
		if !e.Until.IsZero() {
			add("until %s", clock(e.Until))
		}
	}
	if e.Dir != "" {
		add("%s", text.Clean(e.Dir))
	}
	return strings.Join(parts, "; ")
}

// nextText says who works on the queue, and what comes next.
func nextText(entries []Entry, owner *state.Owner) string {
	open := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool {
		return !e.Open() || owner != nil && e.State == Running
	})
	next := "nothing is waiting"
	if len(open) > 0 {
		next = fmt.Sprintf("next: %d %s", open[0].ID, open[0].title())
		if more := len(open) - 1; more > 0 {
			next += fmt.Sprintf(", then %d more", more)
		}
	}
	switch {
	case owner != nil:
		return fmt.Sprintf("run by pid %d; %s", owner.PID, next)
	case len(open) > 0:
		return next + "; to start: bench queue run"
	}
	return next
}
