package launchers

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// partOfGGUF is the end of the name of one of several files of a model.
var partOfGGUF = regexp.MustCompile(`-\d{5}-of-(\d{5}\.gguf)$`)

// weightsOf is the size of a model's weights where they are on this machine, as a
// file, files or a folder of one of the usual kinds; 0: not known. A relative path
// belongs to dir.
func weightsOf(model, dir string) int64 {
	if model == "" {
		return 0
	}
	path := model
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}

	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	if !info.IsDir() {
		if at := partOfGGUF.FindStringSubmatchIndex(path); at != nil {
			return sizeOf(filepath.Dir(path), filepath.Base(path[:at[0]]), "-of-"+path[at[2]:at[3]])
		}
		return info.Size()
	}

	if size := sizeOf(path, "", ".safetensors"); size > 0 {
		return size
	}
	return sizeOf(path, "pytorch_model", ".bin")
}

// sizeOf is the size of the files of a folder whose names begin and end so.
func sizeOf(dir, prefix, suffix string) int64 {
	entries, _ := os.ReadDir(dir) // what cannot be read is not known
	var sum int64
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), prefix) || !strings.HasSuffix(entry.Name(), suffix) {
			continue
		}
		if info, err := os.Stat(filepath.Join(dir, entry.Name())); err == nil && info.Mode().IsRegular() {
			sum += info.Size() // of a link's target: the hub's cache has links
		}
	}
	return sum
}
