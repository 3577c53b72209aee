package table

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/dataset/pickle"
	"github.com/benchrig/bench/internal/userfile"
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
	if ext == ".gz" {
		ext = strings.ToLower(filepath.Ext(strings.TrimSuffix(path, filepath.Ext(path)))) + ext
	}
	if !slices.Contains([]string{".jsonl", ".json", ".parquet", ".pkl", ".pickle", ".pkl.gz", ".pickle.gz"}, ext) {
		return nil, fmt.Errorf("its name ends in %q: want .jsonl, .json, .parquet, .pkl or .pkl.gz", ext)
	}

	file, err := userfile.Open(path)
	if err != nil {
		return nil, err
	}

	var table IDs
	switch ext {
	case ".jsonl":
		table, err = openIDLines(ctx, file, field)
	case ".parquet":
		table, err = openIDColumn(file, field)
	case ".json":
		table, err = openIDWhole(file, field, jsonColumn)
	default:
		table, err = openIDWhole(file, field, pickle.Column)
	}

	if err != nil {
		_ = file.Close() // nothing was written
		return nil, err
	}

	return table, nil
}

// maxWhole bounds what is read as a whole, unpacked.
const maxWhole = 1 << 30

// idWhole is a pandas DataFrame, as pandas pickled it or wrote it as JSON.
type idWhole struct{ all [][]int }

func openIDWhole(file *os.File, field string, column func(data []byte, field string) ([][]int, error)) (IDs, error) {
	var source io.Reader = file
	if strings.HasSuffix(strings.ToLower(file.Name()), ".gz") {
		unpacked, err := gzip.NewReader(file)
		if err != nil {
			return nil, fmt.Errorf("unpack: %w", err)
		}
		source = unpacked
	}

	data, err := io.ReadAll(io.LimitReader(source, maxWhole+1))
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	if len(data) > maxWhole {
		return nil, fmt.Errorf("more than %d bytes, which is too many for this form; write it as parquet", maxWhole)
	}

	all, err := column(data, field)
	if err != nil {
		return nil, err
	}

	return idWhole{all}, file.Close()
}

// jsonColumn is the column of a DataFrame that pandas wrote with to_json: a
// list of rows, or an object of columns whose rows have their numbers as names.
func jsonColumn(data []byte, field string) ([][]int, error) {
	var rows []json.RawMessage
	if json.Unmarshal(data, &rows) == nil {
		return jsonRows(rows, field)
	}

	var columns map[string]map[string]json.RawMessage
	if err := json.Unmarshal(data, &columns); err != nil {
		return nil, fmt.Errorf("want a list of rows, or columns as pandas writes them: %w", err)
	}
	cells, ok := columns[field]
	if !ok {
		return nil, fmt.Errorf("no column %q", field)
	}
	rows = make([]json.RawMessage, len(cells))
	for name, cell := range cells {
		row, err := strconv.Atoi(name)
		if err != nil || row < 0 || row >= len(rows) || rows[row] != nil {
			return nil, fmt.Errorf("column %q: its rows are not numbered from 0 (%q)", field, name)
		}
		rows[row] = cell
	}
	return jsonRows(rows, field)
}

func jsonRows(rows []json.RawMessage, field string) ([][]int, error) {
	all := make([][]int, len(rows))
	for i, row := range rows {
		ids, err := parseIDs(row, field)
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i+1, err)
		}
		all[i] = ids
	}
	return all, nil
}

func (p idWhole) Rows() int { return len(p.all) }

func (p idWhole) Close() error { return nil }

func (p idWhole) IDs(ctx context.Context, picked []int) ([][]int, error) {
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
