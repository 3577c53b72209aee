package container

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Mount is a file or folder of this machine, or a volume, seen at Target.
type Mount struct {
	Source, Target string
	Options        string // "ro"; "": none
}

// String is the mount as container engines take it.
func (m Mount) String() string {
	if m.Options == "" {
		return m.Source + ":" + m.Target
	}
	return m.Source + ":" + m.Target + ":" + m.Options
}

// mounts are the recipe's own, those of caches, and one for a model that is a
// path of this machine and in none of them.
func mounts(job Job) ([]Mount, error) {
	var all []Mount
	for _, mount := range job.Options.Mounts {
		source, rest, _ := strings.Cut(mount, ":")
		target, options, _ := strings.Cut(rest, ":")
		if source == "" || !strings.HasPrefix(target, "/") {
			return nil, fmt.Errorf("container: mounts: invalid mount %q: want SOURCE:TARGET with an absolute target",
				mount)
		}
		all = append(all, Mount{source, target, options})
	}

	all = append(all, cacheMounts(job)...)
	if source := modelSource(job); source != "" {
		all = append(all, Mount{source, source, "ro"})
	}

	return all, nil
}

// Cache is what an engine keeps between starts: the subfolder of Options.Cache
// that holds it on this machine, and where its image looks for it.
type Cache struct{ Name, Path string }

// Mounted reports whether a mount leads to a path within the container.
func (o Options) Mounted(path string) bool {
	return slices.ContainsFunc(o.Mounts, func(mount string) bool {
		_, target, _ := strings.Cut(mount, ":")
		target, _, _ = strings.Cut(target, ":")
		return within(path, target)
	})
}

// cacheMounts are those of the engine's caches, but for what is mounted there
// by hand.
func cacheMounts(job Job) []Mount {
	var mounts []Mount
	for _, cache := range job.Caches {
		if job.Options.Cache != "" && !job.Options.Mounted(cache.Path) {
			mounts = append(mounts, Mount{Source: filepath.Join(job.Options.Cache, cache.Name), Target: cache.Path})
		}
	}
	return mounts
}

// makeCaches makes the folders of cacheMounts: an engine that made them would
// give them to root.
func (job Job) makeCaches() error {
	for _, mount := range cacheMounts(job) {
		if err := os.MkdirAll(mount.Source, 0o755); err != nil {
			return fmt.Errorf("container: cache: %w", err)
		}
	}
	return nil
}

// part matches the name of one of several files that make up a model.
var part = regexp.MustCompile(`-\d{5}-of-\d{5}\.gguf$`)

// modelSource is what must be mounted for a model: its file or folder, or the
// folder of a model in several files. "": nothing.
func modelSource(job Job) string {
	model := filepath.Clean(job.Model)
	if !filepath.IsAbs(model) {
		return ""
	}

	if job.Options.Mounted(model) {
		return ""
	}

	if part.MatchString(model) {
		return filepath.Dir(model)
	}

	return model
}

// CheckModel looks on this machine whether the model can be seen from within
// the container.
func (job Job) CheckModel() error {
	source := modelSource(job)
	if source == "" {
		if local(job) {
			return fmt.Errorf("model: %q is a path relative to this machine's folders, and a container has others: "+
				"give it as an absolute path", job.Model)
		}
		return nil
	}
	if _, err := os.Stat(job.Model); err != nil {
		return fmt.Errorf("model: %q is neither on this machine nor in a mount of the container: name its folder in "+
			"the key mounts", job.Model)
	}

	entries, err := os.ReadDir(source)
	if err != nil {
		return nil //nolint:nilerr // a file: it leads nowhere else
	}

	// A download cache keeps links to files beside the model's folder.
	for _, entry := range entries {
		real, err := filepath.EvalSymlinks(filepath.Join(source, entry.Name()))
		if entry.Type()&os.ModeSymlink != 0 && (err != nil || !within(real, source)) {
			return fmt.Errorf("model: %q holds links that lead out of it (%s): mount a folder that holds both, with "+
				"the key mounts", source, entry.Name())
		}
	}

	return nil
}

// local reports whether a relative model is the name of a file or folder here.
func local(job Job) bool {
	if filepath.IsAbs(job.Model) || !strings.ContainsAny(job.Model, "/.") {
		return false
	}
	_, err := os.Stat(filepath.Join(job.Dir, job.Model))
	return err == nil
}

func within(path, folder string) bool {
	rest, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rest)
}
