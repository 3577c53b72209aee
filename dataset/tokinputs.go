package dataset

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchrig/bench/dataset/pickle"
	"github.com/benchrig/bench/dataset/prng"
)

// tokInputsField is the column that prompts stand in unless Field says another.
const tokInputsField = "tok_inputs"

// idTable is a file whose rows are prompts as token ids.
type idTable interface {
	rows() int
	// ids returns those of the rows picked, which ascend.
	ids(ctx context.Context, picked []int) ([][]int, error)
	close() error
}

// buildTokInputs sends prompts that somebody has tokenized before: the first N
// rows of a file, or with Shuffle N rows in the order of vLLM's shuffle. No
// text is ever made of them. The file knows no answers, so their length is
// Spec.OutputLen.
func buildTokInputs(ctx context.Context, spec Spec, _ Tokenizer) (*Set, error) {
	if spec.OutputLen == 0 {
		return nil, errors.New("output length 0: the file has none, so the load must say it, at least 1 token")
	}
	table, err := openIDs(ctx, spec.Path, orText(spec.Field, tokInputsField))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", spec.Path, cause(err))
	}
	defer func() { _ = table.close() }() // nothing was written
	rows, err := readRows(ctx, table, rowOrder(table.rows(), spec))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", spec.Path, cause(err))
	}
	prompts := make([]Prompt, len(rows))
	for i, ids := range rows {
		prompts[i] = Prompt{TokenIDs: ids, InputTokens: len(ids), OutputTokens: spec.OutputLen}
	}
	spec.TokenIDs = false // they are ids whatever was asked for
	return oversample(prompts, spec), nil
}

func orText(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// rowOrder lists the rows to send, at most N.
func rowOrder(total int, spec Spec) []int {
	order := make([]int, total)
	for i := range order {
		order[i] = i
	}
	if spec.Shuffle {
		prng.NewPython(spec.Seed).Shuffle(total, func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	return order[:min(spec.N, total)]
}

// readRows returns the ids of rows in any order, each checked.
func readRows(ctx context.Context, table idTable, order []int) ([][]int, error) {
	if len(order) == 0 {
		return nil, errors.New("the file has no prompts")
	}
	sorted := slices.Sorted(slices.Values(order))
	read, err := table.ids(ctx, sorted)
	if err != nil {
		return nil, err
	}
	out := make([][]int, len(order))
	for i, row := range order {
		at, _ := slices.BinarySearch(sorted, row)
		if err := checkIDs(read[at]); err != nil {
			return nil, fmt.Errorf("row %d: %w", row+1, err)
		}
		out[i] = read[at]
	}
	return out, ctx.Err()
}

// checkIDs refuses what no server takes as a prompt.
func checkIDs(ids []int) error {
	if len(ids) == 0 || len(ids) > maxTokens {
		return fmt.Errorf("%d token ids: want 1 to %d", len(ids), maxTokens)
	}
	for i, id := range ids {
		if id < 0 || id > math.MaxInt32 {
			return fmt.Errorf("token id %d is %d: want 0 to %d", i+1, id, math.MaxInt32)
		}
	}
	return nil
}

// openIDs opens a file by the end of its name.
func openIDs(ctx context.Context, path, field string) (idTable, error) {
	ext := strings.ToLower(filepath.Ext(path))
	if !slices.Contains([]string{".jsonl", ".parquet", ".pkl", ".pickle"}, ext) {
		return nil, fmt.Errorf("its name ends in %q: want .jsonl, .parquet or .pkl", ext)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	var table idTable
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

func openIDPickle(file *os.File, field string) (idTable, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxPickle {
		return nil, fmt.Errorf("%d bytes: a pickle of at most %d can be read; write it as parquet", info.Size(), maxPickle)
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

func (p idPickle) rows() int    { return len(p.all) }
func (p idPickle) close() error { return nil }

func (p idPickle) ids(ctx context.Context, picked []int) ([][]int, error) {
	out := make([][]int, len(picked))
	for i, row := range picked {
		out[i] = p.all[row]
	}
	return out, ctx.Err()
}
