package container

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/inside"
)

// noteKills looks at the counter of the container's control group, which goes with
// it: an engine that has lost a worker ends by itself, and its container engine
// need not know why.
func (c *Container) noteKills() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kills = c.memory.Look()
}

// monitorDir is the folder, beside its log, in which the client of a podman
// container is called: before version 4.4 podman's monitor notes there that the
// kernel killed the container for lack of memory, and podman looks elsewhere for
// that note. "": none. Arguments that name files of our own folder need that one.
func (job Job) monitorDir(engine string) string {
	if engine != podman || !filepath.IsAbs(job.LogPath) || slices.ContainsFunc(job.Options.Args, namesFileHere) {
		return ""
	}
	return strings.TrimSuffix(job.LogPath, filepath.Ext(job.LogPath)) + ".monitor"
}

// namesFileHere reports whether an argument, such as --env-file=NAME or
// NAME:TARGET, begins with the relative path of a file.
func namesFileHere(arg string) bool {
	if strings.HasPrefix(arg, "-") {
		_, arg, _ = strings.Cut(arg, "=")
	}
	arg, _, _ = strings.Cut(arg, ":")
	if arg == "" || filepath.IsAbs(arg) {
		return false
	}
	_, err := os.Stat(arg)
	return err == nil
}

// monitorFile is the name of podman's note.
const monitorFile = "oom"

// enterMonitorDir makes the folder and has the client called in it.
func (c *CLI) enterMonitorDir(dir string) error {
	if dir == "" {
		return nil
	}
	root, name := inside.Split(dir)
	if err := inside.MkdirAll(root, name); err != nil {
		return err
	}
	_ = inside.Remove(root, filepath.Join(name, monitorFile)) // that of an earlier start; mostly there is none
	c.dir = dir
	return nil
}

// killNoted reports whether podman's monitor has left its note.
func killNoted(dir string) bool {
	if dir == "" {
		return false
	}
	root, name := inside.Split(dir)
	return inside.Exists(root, filepath.Join(name, monitorFile))
}

// removeMonitorDir removes the folder; nothing else of a run is in it.
func removeMonitorDir(dir string) {
	if dir == "" {
		return
	}
	root, name := inside.Split(dir)
	_ = inside.Remove(root, filepath.Join(name, monitorFile)) // mostly there is none
	_ = inside.Remove(root, name)
}
