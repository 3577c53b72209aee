package live

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// Follower reads a run folder again and again, and each time only what is new.
// It is safe for concurrent use.
type Follower struct {
	folder *store.Folder
	// Live gives what the process that carries out the run says, where that is
	// this one; nil: live.json does.
	Live func() results.Live
	// Jobs asks the cluster for the jobs of the run; nil: nobody is asked.
	Jobs func() *Jobs

	mu    sync.Mutex // guards what follows
	board *Board
	read  map[string]int64 // bytes of journals that were taken in, by path
	late  []string         // steps whose result was not there yet
}

// Follow reads a run folder for the first time.
func Follow(dir string) (*Follower, error) {
	folder, err := store.Open(dir)
	if err != nil {
		return nil, err
	}

	f := &Follower{folder: folder, read: map[string]int64{}}
	for _, path := range f.journals() {
		if info, err := os.Stat(path); err == nil {
			f.read[path] = info.Size() // before it is read: an event may be taken in twice, which does not hurt
		}
	}

	for path := range f.read {
		f.read[path] = lastLine(path, f.read[path])
	}

	run, err := store.Read(folder.Dir())
	if err != nil {
		return nil, err
	}

	f.board = newBoard(run)

	return f, nil
}

// lastLine is the end of the last whole line within the first size bytes.
func lastLine(path string, size int64) int64 {
	const most = 1 << 20 // of a line
	file, err := store.OpenPlain(path)
	if err != nil {
		return 0
	}
	defer file.Close()
	from := max(0, size-most)
	text := make([]byte, size-from)
	if n, err := file.ReadAt(text, from); err != nil && !errors.Is(err, io.EOF) {
		return 0
	} else if at := bytes.LastIndexByte(text[:n], '\n'); at >= 0 {
		return from + int64(at) + 1
	}
	return 0
}

// Folder is the run folder.
func (f *Follower) Folder() *store.Folder { return f.folder }

// View reads what is new and puts the run into words.
func (f *Follower) View() (View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	presence := Presence{Now: time.Now()}
	var lives []results.Live
	if f.Live != nil {
		lives = []results.Live{f.Live()}
		presence.Held, presence.Known = true, true
	} else {
		// The lock first: a run that ends in between is in the journal already.
		_, presence.Held, presence.Known = f.folder.Writer()
		var err error
		if lives, err = f.folder.ReadLive(); err != nil {
			return View{}, err
		}
	}

	if f.Jobs != nil {
		presence.Jobs = f.Jobs() // before the folder: what an ended job has left is seen
	}

	if err := f.catchUp(); err != nil {
		return View{}, err
	}

	return makeView(f.board, f.folder.Dir(), lives, presence), nil
}

// catchUp takes in new events and results.
func (f *Follower) catchUp() error {
	ended := f.late
	f.late = nil
	for _, path := range f.journals() {
		events, err := f.newEvents(path)
		if err != nil {
			return err
		}
		for _, e := range events {
			if step := f.board.Event(e); step != "" && !slices.Contains(ended, step) {
				ended = append(ended, step)
			}
		}
	}

	for _, step := range ended {
		result, err := f.folder.ReadResult(step)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			f.late = append(f.late, step)
		case err != nil:
			return err
		default:
			f.board.Result(result)
		}
	}

	return nil
}

// journals are the run's own and those of its jobs.
func (f *Follower) journals() []string {
	all := []string{filepath.Join(f.folder.Dir(), results.JournalName)}
	// nothing where the name looks like a broken pattern
	jobs := f.folder.JobFiles(results.JournalName)
	return append(all, jobs...)
}

// newEvents are those of the whole lines that were added.
func (f *Follower) newEvents(path string) ([]results.Event, error) {
	file, err := store.OpenPlain(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("follow run: %w", err)
	}

	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("follow run: %w", err)
	}
	if info.Size() <= f.read[path] {
		return nil, nil
	}

	if _, err = file.Seek(f.read[path], io.SeekStart); err != nil {
		return nil, fmt.Errorf("follow run: %w", err)
	}
	text, err := inside.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("follow run: %w", err)
	}

	end := bytes.LastIndexByte(text, '\n') + 1
	f.read[path] += int64(end)

	return store.ReadEvents(bytes.NewReader(text[:end]))
}
