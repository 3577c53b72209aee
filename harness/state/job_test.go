package state

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"
)

func TestJobsHaveLocksOfTheirOwn(t *testing.T) {
	root := t.TempDir()
	first, err := openJob(root, "17")
	if err != nil {
		t.Fatal(err)
	}
	second, err := openJob(root, "18")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []*Store{first, second} {
		lock, err := b.Lock("test")
		if err != nil {
			t.Fatalf("Lock(%s) = %v, want it beside the other job's", b.Dir(), err)
		}
		defer func() { _ = lock.Release() }()
	}
	stores, err := Jobs(root)
	if err != nil || len(stores) != 2 {
		t.Fatalf("Jobs() = %v, %v, want two", stores, err)
	}
	if _, err := stores[0].Lock("test"); !errors.As(err, new(*BusyError)) {
		t.Errorf("Lock of a running job = %v, want a BusyError", err)
	}
}

func TestJobIsRemovedOnceNothingIsLeft(t *testing.T) {
	root := t.TempDir()
	if stores, err := Jobs(root); err != nil || stores != nil {
		t.Fatalf("Jobs() = %v, %v, want none", stores, err)
	}
	job, err := openJob(root, "a/../b")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	if err := job.Register(Run{Dir: dir, Cookie: "c"}); err != nil {
		t.Fatal(err)
	}
	if err := job.Remove(); err == nil {
		t.Error("Remove() = nil with a run noted, want an error")
	}
	if err := job.Forget(dir); err != nil {
		t.Fatal(err)
	}
	if err := job.Remove(); err != nil {
		t.Error(err)
	}
	if stores, err := Jobs(root); err != nil || len(stores) != 0 {
		t.Errorf("Jobs() = %v, %v, want none", stores, err)
	}
}

func TestJobsThatStartAndCleanDoNotMeet(t *testing.T) {
	root := t.TempDir()
	stop := make(chan struct{})
	var cleaning sync.WaitGroup
	cleaning.Go(func() { // as jobs do that look for leftovers of others
		for {
			select {
			case <-stop:
				return
			default:
			}
			stores, _ := Jobs(root)
			for _, store := range stores {
				if lock, err := store.Lock("clean"); err == nil {
					_ = store.Remove() // unless a run is noted
					_ = lock.Release()
				}
			}
		}
	})
	for range 15 {
		store, lock, err := LockJob(t.Context(), root, "7", "job")
		if err != nil {
			t.Fatal(err)
		}
		run := Run{Dir: filepath.Join(root, "run"), Cookie: "c"}
		if err := store.Register(run); err != nil {
			t.Fatalf("Register in a locked box: %v", err)
		}
		if err := errors.Join(store.Forget(run.Dir), lock.Release()); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	cleaning.Wait()
}
