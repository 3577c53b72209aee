// Package capture writes what this machine's GPU tools print and its drivers'
// files hold into a folder, to be attached to a report of an error.
//
// What goes in: a machine. What comes out: a folder whose files/ can stand for
// the machine's root. Serial numbers, unique ids, user names and the host name
// never reach it.
package capture

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/gpu/device"
)

// IndexName is the file of a capture that says what the others are.
const IndexName = "capture.json"

// Index is what a capture holds: the index of its folder.
type Index struct {
	Commands []Command `json:"commands"`
	Files    []string  `json:"files"`    // copies of /sys and /proc under files/
	Readings []Reading `json:"readings"` // our own, by each sampler
	Missing  []string  `json:"missing"`  // what is not there, which is not a failure
	Removed  []string  `json:"removed"`  // kinds of words that were replaced
}

// Command is a program that was run. Its output is in the files.
type Command struct {
	Argv   []string `json:"argv"`
	Exit   int      `json:"exit"` // -1: it was ended, or did not start
	TookS  float64  `json:"took_s"`
	Error  string   `json:"error"`
	Stdout string   `json:"stdout"`
	Stderr string   `json:"stderr"`
}

// Reading is what a sampler made of this machine.
type Reading struct {
	Sampler  string           `json:"sampler"`
	Error    string           `json:"error"`
	Notes    []string         `json:"notes"`
	Readings []device.Reading `json:"readings"`
}

// Write writes a folder from which the readings of this machine can be made
// again elsewhere, to be attached to a report of an error: what the vendors'
// tools print, the files that are read, and our own readings. Serial numbers,
// unique ids and names of users are replaced by others, the same everywhere; the
// name of the host is left out. The folder must be new or empty. That a tool is missing or fails
// is written down and is not an error.
func Write(ctx context.Context, options device.Options, folder string) (Index, error) {
	if entries, err := os.ReadDir(folder); err == nil && len(entries) > 0 {
		return Index{}, fmt.Errorf("capture to %s: the folder is not empty; name a new one", folder)
	}

	c := capturer{options: options, files: map[string][]byte{}, links: map[string]string{}}
	c.out = Index{Commands: []Command{}, Files: []string{}, Readings: []Reading{}, Missing: []string{}}
	c.copyFiles()
	c.runCommands(ctx)
	c.read(ctx)
	if err := ctx.Err(); err != nil {
		return Index{}, err
	}
	if err := c.write(folder); err != nil {
		return Index{}, fmt.Errorf("capture to %s: %w", folder, err)
	}

	return c.out, nil
}

// capturer collects everything in memory, because only all of it together
// shows which words have to be replaced.
type capturer struct {
	options device.Options
	files   map[string][]byte // by path in the folder
	links   map[string]string // symbolic links: path -> target
	out     Index
}

func (c *capturer) missing(format string, args ...any) {
	c.out.Missing = append(c.out.Missing, fmt.Sprintf(format, args...))
}

// read takes our own readings.
func (c *capturer) read(ctx context.Context) {
	machine, err := gpu.Detect(ctx, c.options)
	if err != nil {
		return
	}

	for _, name := range gpu.SamplerNames() {
		devices := machine.Of(gpu.SamplerVendor(name))
		if len(devices) == 0 {
			continue
		}
		c.out.Readings = append(c.out.Readings, takeReading(ctx, c.options, name, devices))
	}

	c.addJSON("inventory.json", machine)
	host := gpu.Host(ctx)
	host.Hostname = "host"
	c.addJSON("host.json", host)
}

func takeReading(ctx context.Context, options device.Options, name string, devices []device.Device) Reading {
	taken := Reading{Sampler: name, Notes: []string{}, Readings: []device.Reading{}}
	readings, notes, err := gpu.ReadOnce(ctx, options, name, devices)
	if err != nil {
		taken.Error = err.Error()
	}
	taken.Notes = append(taken.Notes, notes...)
	taken.Readings = append(taken.Readings, readings...)

	return taken
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
	c.addJSON(IndexName, c.out)
	hide := newReplacer(c.files)
	c.out.Removed = hide.removed()
	c.addJSON(IndexName, c.out)
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
