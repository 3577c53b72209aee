// Package queue keeps the scenarios that a machine is to run one after the other.
//
// What goes in: scenarios that were checked, the state folder of the machine, how
// one of them is run. What comes out: entries with their states, which outlive this
// program however it ends, and the next to run, for one runner at a time. It reads
// no file of a scenario and starts nothing.
package queue

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/harness/state"
	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/scenarios"
)

// State is how far an entry has come.
type State string

// The states of an entry. One that is stopped by the user, or whose runner was
// killed, continues with the next runner.
const (
	Queued  State = "queued"
	Running State = "running"
	Done    State = "done"   // its run has ended, and may have failed steps
	Failed  State = "failed" // it gave no run, or none that came to its end
)

// Entry is a scenario to be run.
type Entry struct {
	ID       int       `json:"id"`
	Scenario string    `json:"scenario"` // file, absolute
	Sets     []string  `json:"sets"`     // overrides
	Out      string    `json:"out"`      // folder for results, absolute
	Added    time.Time `json:"added"`

	StartAt   time.Time `json:"start_at,omitzero"` // the scenario's, as seen from its adding
	Until     time.Time `json:"until,omitzero"`    // likewise
	EstimateS float64   `json:"estimate_s"`        // of the plan at its adding

	AllowMissing bool `json:"allow_missing,omitempty"` // run although programs, files or GPUs are missing

	State  State     `json:"state"`
	Starts int       `json:"starts"` // of its run, since one that bench survived
	Began  time.Time `json:"began,omitzero"`
	Ended  time.Time `json:"ended,omitzero"`
	Dir    string    `json:"dir,omitempty"`    // run folder; "": none yet
	Code   *int      `json:"code,omitempty"`   // exit code of its run; nil: it did not end
	Result string    `json:"result,omitempty"` // in words
}

// Asked is what the user asked for beside the scenario, and how long its plan takes.
type Asked struct {
	Out          string // folder for results, "" or relative to the current one
	AllowMissing bool
	EstimateS    float64
}

// Queue puts a scenario that was checked now at the end of the queue.
func (q *Queue) Queue(sc *scenarios.Scenario, asked Asked, now time.Time) (Entry, error) {
	entry, err := newEntry(sc, now)
	if err != nil {
		return Entry{}, err
	}
	entry.EstimateS, entry.AllowMissing = asked.EstimateS, asked.AllowMissing
	if entry.Out, err = filepath.Abs(asked.Out); err != nil {
		return Entry{}, fmt.Errorf("queue %s: %w", sc.Path, err)
	}
	return q.Add(entry)
}

// Estimate is how long the plan of the entry takes, to the second.
func (e Entry) Estimate() time.Duration {
	return time.Duration(e.EstimateS * float64(time.Second)).Round(time.Second)
}

// newEntry is the entry of a scenario that was checked now. Times of the day become
// moments: it may be another day when its turn comes.
func newEntry(sc *scenarios.Scenario, now time.Time) (Entry, error) {
	path, err := filepath.Abs(sc.Path)
	if err != nil {
		return Entry{}, fmt.Errorf("queue %s: %w", sc.Path, err)
	}

	e := Entry{Scenario: path, Sets: sc.Sets, Added: now}
	begins := now
	if !sc.StartAt.IsZero() {
		e.StartAt = sc.StartAt.From(now)
		begins = e.StartAt
	}
	if !sc.EndBy.IsZero() {
		e.Until = sc.EndBy.From(begins)
	}
	return e, nil
}

// Overrides are those that the scenario is run with, which ends by a further moment
// unless that is zero.
func (e Entry) Overrides(by time.Time) []string {
	sets := slices.Clone(e.Sets)
	if !e.StartAt.IsZero() {
		sets = append(sets, "start-at="+e.StartAt.Format(time.RFC3339))
	}
	if end := e.End(by); end != "" {
		sets = append(sets, "until="+end)
	}
	return sets
}

// End is when its run ends at the latest: by its own moment or a further one,
// whichever comes first; "": never.
func (e Entry) End(by time.Time) string {
	if !e.endsBefore(by) {
		e.Until = by
	}
	if e.Until.IsZero() {
		return ""
	}
	return e.Until.Format(time.RFC3339)
}

// endsBefore reports whether its own end comes before another; a zero moment never comes.
func (e Entry) endsBefore(by time.Time) bool {
	return !e.Until.IsZero() && (by.IsZero() || e.Until.Before(by))
}

// Queue is what is to be run on a machine, and what was.
type Queue struct{ state *state.Store }

// Open opens the queue of a machine.
func Open(machine *state.Store) (*Queue, error) {
	own, err := machine.Queue()
	if err != nil {
		return nil, err
	}
	return &Queue{own}, nil
}

const (
	fileName = "queue.json"
	lockName = "queue.lock"
)

// Entries lists all entries in their order.
func (q *Queue) Entries() ([]Entry, error) {
	data, err := state.ReadOwn(filepath.Join(q.state.Dir(), fileName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the queue: %w", err)
	}

	var entries []Entry
	if err := json.Unmarshal(data, &entries); err != nil {
		return nil, fmt.Errorf("read the queue %s: %w; remove the file, then add the scenarios again",
			filepath.Join(q.state.Dir(), fileName), err)
	}
	return entries, nil
}

// Runner is who carries out the queue; nil: nobody.
func (q *Queue) Runner() *state.Owner {
	if owner, ok := q.state.Owner(); ok {
		return &owner
	}
	return nil
}

// Add puts an entry at the end and gives it its number.
func (q *Queue) Add(e Entry) (Entry, error) {
	err := q.change(func(entries []Entry) ([]Entry, error) {
		e.ID, e.State = 1, Queued
		for _, other := range entries {
			e.ID = max(e.ID, other.ID+1)
		}
		return append(entries, e), nil
	})
	return e, err
}

// Remove takes entries out. One that runs is refused.
func (q *Queue) Remove(ids []int) error {
	runner := q.Runner()
	return q.change(func(entries []Entry) ([]Entry, error) {
		for _, id := range ids {
			i := slices.IndexFunc(entries, func(e Entry) bool { return e.ID == id })
			switch {
			case i < 0:
				return nil, usage.Errorf("the queue has no entry %d; see 'bench queue list'", id)
			case entries[i].State == Running && runner != nil:
				return nil, usage.Errorf("entry %d is running: stop it first, with Ctrl-C or SIGTERM to its runner", id)
			}
			entries = slices.Delete(entries, i, i+1)
		}
		return entries, nil
	})
}

// RemoveEnded takes out the entries that are done or failed, and gives their number.
func (q *Queue) RemoveEnded() (n int, err error) {
	err = q.change(func(entries []Entry) ([]Entry, error) {
		left := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return !e.Open() })
		n = len(entries) - len(left)
		return left, nil
	})
	return n, err
}

// Open reports whether an entry is still to be run, or to continue.
func (e Entry) Open() bool { return e.State == Queued || e.State == Running }

// update changes one entry. An entry that was removed meanwhile is not an error.
func (q *Queue) update(id int, set func(*Entry)) error {
	return q.change(func(entries []Entry) ([]Entry, error) {
		for i := range entries {
			if entries[i].ID == id {
				set(&entries[i])
			}
		}
		return entries, nil
	})
}

// change replaces the entries by what edit makes of them. Others wait meanwhile.
func (q *Queue) change(edit func([]Entry) ([]Entry, error)) error {
	lock, err := inside.Open(q.state.Dir(), lockName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("lock the queue: %w", err)
	}
	defer lock.Close() // gives the lock back
	for {
		if err = unix.Flock(int(lock.Fd()), unix.LOCK_EX); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("lock the queue: %w", err)
	}

	entries, err := q.Entries()
	if err != nil {
		return err
	}
	if entries, err = edit(entries); err != nil {
		return err
	}
	data, err := json.MarshalIndent(entries, "", "  ")
	if err == nil {
		err = state.Replace(filepath.Join(q.state.Dir(), fileName), append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the queue: %w", err)
	}
	return nil
}
