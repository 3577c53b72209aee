package container

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// mounts are the recipe's own, and one for a model that is a path of
// this machine and in none of them.
func mounts(job Job) ([]string, error) {
	var options []string
	for _, mount := range job.Options.Mounts {
		source, target, _ := strings.Cut(mount, ":")
		if source == "" || !strings.HasPrefix(target, "/") {
			return nil, fmt.Errorf("container: mounts: %q is no SOURCE:TARGET with an absolute target", mount)
		}
		options = append(options, "-v", mount)
	}
	if source := modelSource(job); source != "" {
		options = append(options, "-v", source+":"+source+":ro")
	}
	return options, nil
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

	for _, mount := range job.Options.Mounts {
		_, target, _ := strings.Cut(mount, ":")
		target, _, _ = strings.Cut(target, ":")
		if within(model, target) {
			return ""
		}
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
