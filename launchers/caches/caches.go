// Package caches brings the caches that a start finds into the state that is asked
// for: the kernel's page cache of a model's files, and folders of its own for what
// engines keep between starts.
//
// What goes in: a model, a state. What comes out: what the caches hold, measured
// after the change. It needs no privilege, changes no setting of the machine, and
// removes only folders that it made.
package caches

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Residence is how much of some files the page cache holds.
type Residence struct {
	Bytes    int64 // of the files
	Resident int64 // of them in the page cache, in whole pages
}

// partOfGGUF is the end of the name of one of several files of a model.
var partOfGGUF = regexp.MustCompile(`-\d{5}-of-\d{5}\.gguf$`)

// ModelFiles are the files of a model: a file with its parts, all files of a
// folder, or of a name on the hub those in the hub's cache, which env names. A
// relative path belongs to dir. Without a file the model is not on this machine.
func ModelFiles(model, dir string, env func(string) string) ([]string, error) {
	if model == "" {
		return nil, errors.New("the recipe names no model")
	}
	path := model
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}

	info, err := os.Stat(path)
	switch {
	case err != nil:
		return hubFiles(model, env)
	case info.IsDir():
		return filesBelow(path)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q is not a plain file", model)
	}
	if at := partOfGGUF.FindStringIndex(path); at != nil {
		return partsOf(path[:at[0]])
	}
	return []string{path}, nil
}

// partsOf are the files of a model in several whose names begin so.
func partsOf(stem string) (files []string, err error) {
	entries, err := os.ReadDir(filepath.Dir(stem))
	for _, entry := range entries {
		rest, ok := strings.CutPrefix(entry.Name(), filepath.Base(stem))
		if at := partOfGGUF.FindStringIndex(rest); ok && at != nil && at[0] == 0 {
			files = append(files, filepath.Join(filepath.Dir(stem), entry.Name()))
		}
	}
	return files, err
}

// hubPlaces are where the hub's cache is looked for, in this order.
var hubPlaces = []struct{ variable, below string }{
	{"HF_HUB_CACHE", ""}, {"HF_HOME", "hub"}, {"XDG_CACHE_HOME", "huggingface/hub"}, {"HOME", ".cache/huggingface/hub"},
}

// HubVariables are the variables that say where the hub's cache is.
func HubVariables() (names []string) {
	for _, place := range hubPlaces {
		names = append(names, place.variable)
	}
	return names
}

// hubFiles are the files of a model in the cache of the hub.
func hubFiles(model string, env func(string) string) ([]string, error) {
	if strings.Count(model, "/") != 1 || strings.ContainsAny(model, `\*?[`) || strings.Contains(model, "..") {
		return nil, fmt.Errorf("model %q is neither a file nor a folder of this machine", model)
	}

	var roots []string
	for _, place := range hubPlaces {
		if root := env(place.variable); root != "" {
			roots = append(roots, filepath.Join(root, place.below))
		}
	}
	for _, root := range roots {
		files, err := filesBelow(filepath.Join(root, "models--"+strings.ReplaceAll(model, "/", "--"), "snapshots"))
		if err == nil && len(files) > 0 {
			return files, nil
		}
	}
	return nil, fmt.Errorf("model %q is not in the cache of the hub (%s)", model, strings.Join(roots, ", "))
}

// mostFiles bounds what a folder is looked through for.
const mostFiles = 100_000

// filesBelow are the plain files below a folder, those behind links included: the
// hub's cache has links.
func filesBelow(folder string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return nil //nolint:nilerr // a link to nothing is not a file
		}
		if files = append(files, path); len(files) > mostFiles {
			return fmt.Errorf("%q has more than %d files", folder, mostFiles)
		}
		return nil
	})
	return files, err
}

// Look measures how much of the files the page cache holds.
func Look(files []string) (Residence, error) {
	var all Residence
	for _, path := range files {
		err := withFile(path, func(f *os.File, size int64) error {
			resident, err := residentOf(f, size)
			all.Bytes += size
			all.Resident += min(resident, size)
			return err
		})
		if err != nil {
			return all, fmt.Errorf("look at page cache of %s: %w", path, err)
		}
	}
	return all, nil
}

// Evict takes the files out of the page cache, as far as nothing uses them.
func Evict(ctx context.Context, files []string) error {
	for _, path := range files {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err := withFile(path, func(f *os.File, _ int64) error {
			_ = unix.Fdatasync(int(f.Fd())) // pages that are not written yet stay
			return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
		})
		if err != nil {
			return fmt.Errorf("evict %s from page cache: %w", path, err)
		}
	}
	return nil
}

// Fill reads the files, so that the page cache has them as far as memory goes.
func Fill(ctx context.Context, files []string) error {
	for _, path := range files {
		err := withFile(path, func(f *os.File, _ int64) error {
			buffer := make([]byte, 1<<20)
			for ctx.Err() == nil {
				if _, err := f.Read(buffer); errors.Is(err, io.EOF) {
					return nil
				} else if err != nil {
					return err
				}
			}
			return ctx.Err()
		})
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
	}
	return nil
}

// withFile opens a plain file for reading; it does not wait for one that another
// kind of file has replaced.
func withFile(path string, use func(f *os.File, size int64) error) error {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read

	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("not a plain file")
	}
	return use(f, info.Size())
}

// residentOf asks the kernel for the bytes of a file that the page cache holds: by
// cachestat, which Linux has since 6.5, else by mincore, which shows other users'
// files as resident as a whole.
func residentOf(f *os.File, size int64) (int64, error) {
	if size == 0 {
		return 0, nil
	}

	page := int64(os.Getpagesize())
	var stat unix.Cachestat_t
	err := unix.Cachestat(uint(f.Fd()), &unix.CachestatRange{}, &stat, 0) // of no length: to the end
	if err == nil {
		return int64(stat.Cache) * page, nil
	}
	if !slices.Contains([]error{unix.ENOSYS, unix.EPERM, unix.EOPNOTSUPP}, err) {
		return 0, err
	}

	const window = 1 << 30
	var pages int64
	for at := int64(0); at < size; at += window {
		n, err := residentPages(f, at, min(window, size-at))
		if err != nil {
			return 0, err
		}
		pages += n
	}
	return pages * page, nil
}
