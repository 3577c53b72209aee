package table

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchrig/bench/dataset/pickle"
)

// IDs is a file whose rows are prompts as token ids.
type IDs interface {
	Rows() int
	// IDs returns those of the rows picked, which ascend.
	IDs(ctx context.Context, picked []int) ([][]int, error)
	Close() error
}

// OpenIDs opens a file by the end of its name.
func OpenIDs(ctx context.Context, path, field string) (IDs, error) {
	ext := strings.ToLower(filepath.Ext(path))
	if !slices.Contains([]string{".jsonl", ".parquet", ".pkl", ".pickle"}, ext) {
		return nil, fmt.Errorf("its name ends in %q: want .jsonl, .parquet or .pkl", ext)
	}

	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}

	var table IDs
	switch ext {
	case ".jsonl":
		table, err = openIDLines(ctx, file, field)
	case ".parquet":
		table, err = openIDColumn(file, field)
	default:
		table, err = openIDPickle(file, field)
	}

	if err != nil {
		_ = file.Close() // nothing was written
		return nil, err
	}

	return table, nil
}

// maxPickle bounds a pickle, which is read as a whole.
const maxPickle = 1 << 30

// idPickle is a pandas DataFrame, as pandas pickled it.
type idPickle struct{ all [][]int }

func openIDPickle(file *os.File, field string) (IDs, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxPickle {
		return nil, fmt.Errorf("%d bytes: a pickle of at most %d can be read; write it as parquet", info.Size(),
			maxPickle)
	}

	data := make([]byte, info.Size())
	if _, err := file.ReadAt(data, 0); err != nil {
		return nil, err
	}

	all, err := pickle.Column(data, field)
	if err != nil {
		return nil, err
	}

	return idPickle{all}, file.Close()
}

func (p idPickle) Rows() int { return len(p.all) }

func (p idPickle) Close() error { return nil }

func (p idPickle) IDs(ctx context.Context, picked []int) ([][]int, error) {
	out := make([][]int, len(picked))
	for i, row := range picked {
		out[i] = p.all[row]
	}
	return out, ctx.Err()
}

// maxIDs bounds the tokens of one prompt, far above any model's context.
const maxIDs = 1 << 24

// CheckIDs refuses what no server takes as a prompt.
func CheckIDs(ids []int) error {
	if len(ids) == 0 || len(ids) > maxIDs {
		return fmt.Errorf("%d token ids: want 1 to %d", len(ids), maxIDs)
	}
	for i, id := range ids {
		if id < 0 || id > math.MaxInt32 {
			return fmt.Errorf("token id %d is %d: want 0 to %d", i+1, id, math.MaxInt32)
		}
	}
	return nil
}
