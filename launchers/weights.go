package launchers

import (
	"os"
	"path/filepath"
	"regexp"
)

// partOfGGUF is the end of the name of one of several files of a model.
var partOfGGUF = regexp.MustCompile(`-\d{5}-of-(\d{5}\.gguf)$`)

// weightsOf is the size of a model's weights where they lie on this machine, as a
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
			return sizeOf(path[:at[0]] + "-?????-of-" + path[at[2]:at[3]])
		}
		return info.Size()
	}

	for _, pattern := range []string{"*.safetensors", "pytorch_model*.bin"} {
		if size := sizeOf(filepath.Join(path, pattern)); size > 0 {
			return size
		}
	}
	return 0
}

// sizeOf is the size of all files that match.
func sizeOf(pattern string) int64 {
	paths, _ := filepath.Glob(pattern) // an error is one of the pattern: nothing is known
	var sum int64
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
	}
	return sum
}
