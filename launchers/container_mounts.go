package launchers

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// containerMounts are the recipe's own, and one for a model that is a path of
// this machine and in none of them.
func containerMounts(spec Spec) ([]string, error) {
	var options []string
	for _, mount := range spec.Container.Mounts {
		source, target, _ := strings.Cut(mount, ":")
		if source == "" || !strings.HasPrefix(target, "/") {
			return nil, fmt.Errorf("container: mounts: %q is no SOURCE:TARGET with an absolute target", mount)
		}
		options = append(options, "-v", mount)
	}
	if source := modelSource(spec); source != "" {
		options = append(options, "-v", source+":"+source+":ro")
	}
	return options, nil
}

// part matches the name of one of several files that make up a model.
var part = regexp.MustCompile(`-\d{5}-of-\d{5}\.gguf$`)

// modelSource is what must be mounted for a model: its file or folder, or the
// folder of a model in several files. "": nothing.
func modelSource(spec Spec) string {
	model := filepath.Clean(spec.Model)
	if !filepath.IsAbs(model) {
		return ""
	}
	for _, mount := range spec.Container.Mounts {
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

// checkModel looks on this machine whether the model can be seen from within
// the container.
func checkModel(spec Spec) error {
	source := modelSource(spec)
	if source == "" {
		if local(spec) {
			return fmt.Errorf("model: %q is a path relative to this machine's folders, and a container has others: give it as an absolute path", spec.Model)
		}
		return nil
	}
	if _, err := os.Stat(spec.Model); err != nil {
		return fmt.Errorf("model: %q is neither on this machine nor in a mount of the container: name its folder in the key mounts", spec.Model)
	}
	entries, err := os.ReadDir(source)
	if err != nil {
		return nil //nolint:nilerr // a file: it leads nowhere else
	}
	// A download cache keeps links to files beside the model's folder.
	for _, entry := range entries {
		real, err := filepath.EvalSymlinks(filepath.Join(source, entry.Name()))
		if entry.Type()&os.ModeSymlink != 0 && (err != nil || !within(real, source)) {
			return fmt.Errorf("model: %q holds links that lead out of it (%s): mount a folder that holds both, with the key mounts", source, entry.Name())
		}
	}
	return nil
}

// local reports whether a relative model is the name of a file or folder here.
func local(spec Spec) bool {
	if filepath.IsAbs(spec.Model) || !strings.ContainsAny(spec.Model, "/.") {
		return false
	}
	_, err := os.Stat(filepath.Join(spec.Dir, spec.Model))
	return err == nil
}

func within(path, folder string) bool {
	rest, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rest)
}
