package container

import (
	"fmt"
	"maps"
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

// Cache is what an engine keeps between starts.
type Cache struct {
	Name string // of the subfolder of Options.Cache that holds it on this machine
	Path string // where its image looks for it, which runs as root

	// Variable makes the engine look elsewhere, for images that run as the user:
	// in the subfolder, or in Below of it.
	Variable, Below string
}

// Mounted reports whether a mount leads to a path within the container.
func (o Options) Mounted(path string) bool {
	return slices.ContainsFunc(o.Mounts, func(mount string) bool {
		_, target, _ := strings.Cut(mount, ":")
		target, _, _ = strings.Cut(target, ":")
		return within(path, target)
	})
}

// caches are those that Options.Cache is for: not what is mounted by hand.
func (job Job) caches() []Cache {
	if job.Options.Cache == "" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(job.Caches), func(c Cache) bool { return job.Options.Mounted(c.Path) })
}

// cacheMounts are those of the engine's caches: each where its image looks for
// it, or all where they are on this machine if the image runs as the user, who
// may not look there.
func cacheMounts(job Job) []Mount {
	caches := job.caches()
	if !job.Options.Daemon() && len(caches) > 0 {
		return []Mount{{Source: job.Options.Cache, Target: job.Options.Cache}}
	}
	var mounts []Mount
	for _, cache := range caches {
		mounts = append(mounts, Mount{Source: filepath.Join(job.Options.Cache, cache.Name), Target: cache.Path})
	}
	return mounts
}

// withCacheVariables is an environment in which the engine finds caches at their
// places on this machine. What the recipe sets itself stays.
func (job Job) withCacheVariables() map[string]string {
	env := make(map[string]string)
	for _, cache := range job.caches() {
		if cache.Variable != "" {
			env[cache.Variable] = filepath.Join(job.Options.Cache, cache.Name, cache.Below)
		}
	}
	maps.Copy(env, job.Env)
	return env
}

// MakeCaches makes the folders of the engine's caches: an engine that made them
// would give them to root, and those without a daemon make none.
func (job Job) MakeCaches() error {
	for _, cache := range job.caches() {
		if err := os.MkdirAll(filepath.Join(job.Options.Cache, cache.Name, cache.Below), 0o755); err != nil {
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
