package store

import (
	"errors"
	"testing"

	"github.com/benchrig/bench/results"
)

func TestLockRefusesASecondWriter(t *testing.T) {
	f := mustFolder(t)
	if err := f.WriteManifest(results.Manifest{}); err != nil {
		t.Fatal(err)
	}
	lock, err := f.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Lock(); !errors.Is(err, errLocked) {
		t.Errorf("second Lock error = %v, want errLocked", err)
	}
	if _, err := Read(f.Dir()); err != nil {
		t.Errorf("Read while locked error = %v, want none", err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := f.Lock()
	if err != nil {
		t.Fatalf("Lock after Release error = %v, want none", err)
	}
	if err := again.Release(); err != nil {
		t.Error(err)
	}
}
