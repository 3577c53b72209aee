// Package table reads the rows of files of prompts: conversations in Parquet
// and JSON files as Hugging Face's hub has them, and lists of token ids in
// Parquet, JSON lines and pandas' pickles.
//
// What goes in: a file, and which rows are wanted. What comes out: what was
// said in each row, or its token ids. Only the wanted rows are held in memory;
// nothing that a file claims about its size is believed before it is checked.
package table

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/userfile"
)

// Chats is a file whose rows are conversations.
type Chats interface {
	Rows() int
	Columns() []string
	// Each calls use with what was said in the column field, for each of the
	// rows picked, which ascend.
	Each(ctx context.Context, field string, picked []int, use func(row int, said []Utterance) error) error
	Close() error
}

// Open opens a file by the end of its name.
func Open(ctx context.Context, path string) (Chats, error) {
	file, err := userfile.Open(path)
	if err != nil {
		return nil, err
	}

	var t Chats
	if strings.EqualFold(filepath.Ext(path), ".parquet") {
		t, err = openParquet(file)
	} else {
		t, err = openJSONTable(ctx, file)
	}

	if err != nil {
		_ = file.Close() // nothing was written
		return nil, err
	}

	return t, nil
}

// aboutFiles are files that Hugging Face's programs put beside a dataset to
// describe it.
func aboutFiles() []string {
	return []string{"dataset_infos.json", "dataset_info.json", "dataset_dict.json", "state.json", "README.json"}
}

// Files lists the files of a dataset in the order of their names: a file, or
// those of a folder that hold rows. Hidden folders, as of caches, are left out.
func Files(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, Cause(err))
	}
	if !info.IsDir() {
		return []string{path}, nil
	}

	var out []string
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(d.Name(), ".") && p != path:
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.IsDir() || slices.Contains(aboutFiles(), d.Name()):
		case slices.Contains([]string{".parquet", ".jsonl", ".json"}, strings.ToLower(filepath.Ext(p))):
			out = append(out, p)
		}
		return nil
	})

	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, Cause(err))
	case len(out) == 0:
		return nil, fmt.Errorf("%s: no .parquet, .jsonl or .json file in it", path)
	}

	return out, nil
}
