package store

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benchrig/bench/results"
)

// Of many that want to submit at once, one does; the others learn which.
func TestOneSubmitter(t *testing.T) {
	folder := jobsRun(t)
	for range 50 {
		var got, refused atomic.Int32
		held := make(chan *Submitter, 8)
		var wg sync.WaitGroup
		for range cap(held) {
			wg.Go(func() {
				s, err := folder.Submit()
				switch {
				case err == nil:
					got.Add(1)
					held <- s
				case errors.Is(err, ErrSubmitting):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got.Load() != 1 || int(refused.Load()) != cap(held)-1 {
			t.Fatalf("%d may submit and %d are refused, want 1 and %d", got.Load(), refused.Load(), cap(held)-1)
		}

		s := <-held
		if err := errors.Join(s.Held(), s.Release()); err != nil {
			t.Fatal(err)
		}
	}

	left, err := filepath.Glob(filepath.Join(folder.Dir(), results.JobsName, "*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left in jobs/: %q, %v, want nothing", left, err)
	}
}

// The file of a process that is gone is taken over: one of this machine at once,
// one of another when it has shown no life for a minute.
func TestSubmitterOfAGoneProcess(t *testing.T) {
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	here, elsewhere := thisProcess(), thisProcess()
	here.PID, here.Start = ended.Process.Pid, 1
	elsewhere.Host, elsewhere.Machine = "login2", "another"

	for _, c := range []struct {
		name  string
		who   any
		age   time.Duration
		taken bool
	}{
		{"gone here", here, 0, true},
		{"elsewhere, alive", elsewhere, 30 * time.Second, false},
		{"elsewhere, silent", elsewhere, 2 * time.Minute, true},
		{"this process", thisProcess(), 0, false},
		{"damaged", "{", 0, false},
		{"damaged long ago", "{", time.Hour, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := jobsRun(t)
			path := filepath.Join(folder.Dir(), results.JobsName, submitterName)
			text, err := json.Marshal(c.who)
			if err != nil {
				t.Fatal(err)
			}
			at := time.Now().Add(-c.age)
			err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, text, 0o600),
				os.Chtimes(path, at, at))
			if err != nil {
				t.Fatal(err)
			}

			s, err := folder.Submit()
			if taken := err == nil; taken != c.taken || !taken && !errors.Is(err, ErrSubmitting) {
				t.Fatalf("Submit() = %v, want the right taken over: %t", err, c.taken)
			}
			if s == nil {
				if c.name == "elsewhere, alive" && !strings.Contains(err.Error(), "on login2") {
					t.Errorf("error %q, want the machine named", err)
				}
				return
			}
			if err := s.Release(); err != nil {
				t.Error(err)
			}
		})
	}
}
