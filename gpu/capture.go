package gpu

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// CaptureIndexName is the file of a capture that says what the others are.
const CaptureIndexName = "capture.json"

// Captured is what a capture holds: the index of its folder.
type Captured struct {
	Commands []CapturedCommand `json:"commands"`
	Files    []string          `json:"files"`    // copies of /sys and /proc under files/
	Readings []CapturedReading `json:"readings"` // our own, by each sampler
	Missing  []string          `json:"missing"`  // what is not there, which is no failure
	Removed  []string          `json:"removed"`  // kinds of words that were replaced
}

// CapturedCommand is a program that was run. Its output lies in the files.
type CapturedCommand struct {
	Argv   []string `json:"argv"`
	Exit   int      `json:"exit"` // -1: it was ended, or did not start
	TookS  float64  `json:"took_s"`
	Error  string   `json:"error"`
	Stdout string   `json:"stdout"`
	Stderr string   `json:"stderr"`
}

// CapturedReading is what a sampler made of this box.
type CapturedReading struct {
	Sampler  string    `json:"sampler"`
	Error    string    `json:"error"`
	Notes    []string  `json:"notes"`
	Readings []Reading `json:"readings"`
}

// Capture writes a folder from which the readings of this box can be made
// again elsewhere, to be attached to a report of an error: what the vendors'
// tools print, the files that are read, and our own readings. Serial numbers,
// unique ids and names of users are replaced by others, the same everywhere; the
// name of the host is left out. The folder must be new or empty. That a tool is missing or fails
// is written down and is no error.
func Capture(ctx context.Context, options Options, folder string) (Captured, error) {
	if entries, err := os.ReadDir(folder); err == nil && len(entries) > 0 {
		return Captured{}, fmt.Errorf("capture to %s: the folder is not empty; name a new one", folder)
	}
	c := capturer{options: options, files: map[string][]byte{}, links: map[string]string{}}
	c.out = Captured{Commands: []CapturedCommand{}, Files: []string{}, Readings: []CapturedReading{}, Missing: []string{}}
	c.copyFiles()
	c.runCommands(ctx)
	c.read(ctx)
	if err := ctx.Err(); err != nil {
		return Captured{}, err
	}
	if err := c.write(folder); err != nil {
		return Captured{}, fmt.Errorf("capture to %s: %w", folder, err)
	}
	return c.out, nil
}

// capturer collects everything in memory, because only all of it together
// shows which words have to be replaced.
type capturer struct {
	options Options
	files   map[string][]byte // by path in the folder
	links   map[string]string // symbolic links: path -> target
	out     Captured
}

func (c *capturer) missing(format string, args ...any) {
	c.out.Missing = append(c.out.Missing, fmt.Sprintf(format, args...))
}

// read takes our own readings.
func (c *capturer) read(ctx context.Context) {
	box, err := Detect(ctx, c.options)
	if err != nil {
		return
	}
	for _, kind := range samplerKinds() {
		devices := box.Of(kind.vendor)
		if len(devices) == 0 {
			continue
		}
		c.out.Readings = append(c.out.Readings, takeReading(ctx, c.options, kind, devices))
	}
	c.addJSON("inventory.json", box)
	host := Host(ctx)
	host.Hostname = "host"
	c.addJSON("host.json", host)
}

func takeReading(ctx context.Context, options Options, kind samplerKind, devices []Device) CapturedReading {
	reading := CapturedReading{Sampler: kind.name, Notes: []string{}, Readings: []Reading{}}
	bounded, cancel := context.WithTimeout(ctx, trialLimit)
	defer cancel()
	sampler, err := kind.open(options, devices)
	if err != nil {
		reading.Error = err.Error()
		return reading
	}
	readings, err := readWithin(bounded, sampler)
	if err = errors.Join(err, sampler.Close()); err != nil {
		reading.Error = err.Error()
	}
	if n, ok := sampler.(noter); ok {
		reading.Notes = append(reading.Notes, n.Notes()...)
	}
	reading.Readings = append(reading.Readings, readings...)
	return reading
}

func (c *capturer) addJSON(name string, v any) {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil { // a figure that JSON has no word for
		c.missing("%s: %v", name, err)
		return
	}
	c.files[name] = append(text, '\n')
}

// write replaces what is private, then writes.
func (c *capturer) write(folder string) error {
	slices.Sort(c.out.Files)
	c.addJSON(CaptureIndexName, c.out)
	hide := newReplacer(c.files)
	c.out.Removed = hide.removed()
	c.addJSON(CaptureIndexName, c.out)
	for name, data := range c.files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, hide.replace(data), 0o644); err != nil {
			return err
		}
	}
	for name, target := range c.links {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.Symlink(target, path); err != nil {
			return err
		}
	}
	return nil
}
