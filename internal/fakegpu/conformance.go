package fakegpu

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/results"
)

// Replay puts a capture before the code that reads its kind and says what that
// code made of it.
type Replay func(t *testing.T, capture string) Outcome

// Outcome is what a capture was read as. Its golden file is what somebody
// found right by the vendor's documents.
type Outcome struct {
	Readings []results.GPUReading `json:"readings,omitempty"`
	Holders  []results.GPUHolder  `json:"holders,omitempty"`
	Notes    []string             `json:"notes,omitempty"`
	Error    string               `json:"error,omitempty"`
}

// Conformance holds every capture of some tools in a folder to its reviewed
// reading, the file CAPTURE.want.json beside it.
type Conformance struct {
	Folder    string
	Tools     []string          // beginnings of the names of their captures: "amd-smi-"
	Replays   map[string]Replay // by the beginning of a capture's name; the longest that fits counts
	NotParsed map[string]string // captures that nothing reads, and why
	Update    bool              // write the readings; review every change
}

// Run tests each capture, and that no golden file is without its capture.
func (c Conformance) Run(t *testing.T) {
	t.Helper()
	entries, err := os.ReadDir(c.Folder)
	if err != nil {
		t.Fatal(err)
	}

	count, skipped := 0, map[string]bool{}
	for _, entry := range entries {
		name := entry.Name()
		if !slices.ContainsFunc(c.Tools, func(tool string) bool { return strings.HasPrefix(name, tool) }) {
			continue
		}
		if capture, golden := strings.CutSuffix(name, ".want.json"); golden {
			if _, err := os.Stat(filepath.Join(c.Folder, capture)); err != nil {
				t.Errorf("%s tests nothing: %v", name, err)
			}
			continue
		}
		if _, ok := c.NotParsed[name]; ok {
			skipped[name] = true
			continue
		}
		count++
		t.Run(name, func(t *testing.T) { c.check(t, name) })
	}

	for name := range c.NotParsed {
		if !skipped[name] {
			t.Errorf("NotParsed names %s, which does not exist", name)
		}
	}

	if count == 0 {
		t.Errorf("no capture of %q in %s", c.Tools, c.Folder)
	}
}

func (c Conformance) check(t *testing.T, name string) {
	best := ""
	for prefix := range c.Replays {
		if strings.HasPrefix(name, prefix) && len(prefix) > len(best) {
			best = prefix
		}
	}

	if best == "" {
		t.Fatalf("no replay for %s: add one, or say in NotParsed why there is none", name)
	}

	path, err := filepath.Abs(filepath.Join(c.Folder, name))
	if err != nil {
		t.Fatal(err)
	}

	got, err := json.MarshalIndent(c.Replays[best](t, path), "", "\t")
	if err != nil {
		t.Fatal(err)
	}

	got = append(got, '\n')

	golden := path + ".want.json"
	if c.Update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}

	want, err := os.ReadFile(golden)
	if os.IsNotExist(err) {
		t.Fatalf("a capture without a reviewed reading: review this and add it as %s (-update writes it):\n%s",
			filepath.Base(golden), got)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("read as\n%s\nwant\n%s", got, want)
	}
}

// OutcomeOf reads once with a sampler of these devices.
func OutcomeOf(
	t *testing.T,
	open func(device.Options, []device.Device) (device.Sampler, error),
	root string,
	devices []device.Device,
) Outcome {
	t.Helper()
	sampler, err := open(device.Options{Root: root}, devices)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := sampler.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}()

	got := Outcome{}
	readings, err := sampler.Read(t.Context())
	if n, ok := sampler.(interface{ Notes() []string }); ok {
		got.Notes = n.Notes()
	}
	if err != nil {
		got.Error = err.Error()
	}

	for _, reading := range readings {
		known := slices.ContainsFunc(devices, func(d device.Device) bool { return d.ID() == reading.Device })
		if reading.At.IsZero() || !known {
			t.Errorf("reading of %q at %v: want a device of the inventory, and a time", reading.Device, reading.At)
		}
		got.Readings = append(got.Readings, reading.GPUReading)
	}

	return got
}
