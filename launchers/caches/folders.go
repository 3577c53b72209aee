package caches

import (
	"os"
	"path/filepath"
	"strings"
)

// Variables give each variable of an engine a folder of its own below a folder.
func Variables(names []string, folder string) map[string]string {
	all := make(map[string]string, len(names))
	for _, name := range names {
		all[name] = filepath.Join(folder, folderOf(name))
	}
	return all
}

// Make makes the folders that variables name below a folder with a name within
// another, in place of whatever has that name. Links do not lead out of the outer
// one.
func Make(outer, name string, variables map[string]string) error {
	root, err := os.OpenRoot(outer)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()

	if err := root.RemoveAll(name); err != nil {
		return err
	}
	for variable := range variables {
		if err := root.MkdirAll(filepath.Join(name, folderOf(variable)), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// Remove removes what has a name within a folder. Links do not lead out of it.
func Remove(outer, name string) error {
	root, err := os.OpenRoot(outer)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return root.RemoveAll(name)
}

func folderOf(variable string) string { return strings.ToLower(variable) }

// Size is the sum of the sizes of the plain files below a folder, which are not
// followed through links; 0: there is none.
func Size(folder string) (bytes int64) {
	_ = filepath.WalkDir(folder, func(_ string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil //nolint:nilerr // what has gone meanwhile has no size
		}
		if info, err := entry.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}
