package launchers

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// containerMounts are the recipe's own, and one for a model that lies on this
// machine and in none of them.
func containerMounts(spec Spec) ([]string, error) {
	var options, targets []string
	for _, mount := range spec.Container.Mounts {
		parts := strings.Split(mount, ":")
		if len(parts) < 2 || parts[0] == "" || !strings.HasPrefix(parts[1], "/") {
			return nil, fmt.Errorf("container: mounts: %q is no SOURCE:TARGET with an absolute target", mount)
		}
		options, targets = append(options, "-v", mount), append(targets, filepath.Clean(parts[1]))
	}
	model := spec.Model
	if !filepath.IsAbs(model) {
		if local(spec, model) {
			return nil, fmt.Errorf("model: %q is a path relative to this machine's folders, and a container has others: give it as an absolute path", model)
		}
		return options, nil
	}
	for _, target := range targets {
		if within(model, target) {
			return options, nil
		}
	}
	source, err := modelSource(model)
	if err != nil {
		return nil, err
	}
	return append(options, "-v", source+":"+source+":ro"), nil
}

// local reports whether a model's name is that of a file or folder here.
func local(spec Spec, model string) bool {
	if !strings.ContainsAny(model, "/.") {
		return false
	}
	_, err := os.Stat(filepath.Join(spec.Dir, model))
	return err == nil
}

func within(path, folder string) bool {
	rest, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rest)
}

// part matches the name of one of several files that make up a model.
var part = regexp.MustCompile(`-\d{5}-of-\d{5}\.gguf$`)

// modelSource is what must be mounted for a model: its file, or the folder of
// a model in several files.
func modelSource(model string) (string, error) {
	info, err := os.Stat(model)
	switch {
	case err != nil:
		return "", fmt.Errorf("model: %q is neither on this machine nor in a mount of the container: give the key mounts:", model)
	case part.MatchString(model):
		return filepath.Dir(model), nil
	case !info.IsDir():
		return filepath.Clean(model), nil
	}
	// A download cache keeps links to files beside the model's folder.
	entries, err := os.ReadDir(model)
	if err != nil {
		return "", fmt.Errorf("model: %w", err)
	}
	for _, entry := range entries {
		real, err := filepath.EvalSymlinks(filepath.Join(model, entry.Name()))
		if entry.Type()&os.ModeSymlink != 0 && (err != nil || !within(real, model)) {
			return "", fmt.Errorf("model: %q holds links that lead out of it (%s): mount a folder that holds both, with the key mounts:", model, entry.Name())
		}
	}
	return filepath.Clean(model), nil
}
