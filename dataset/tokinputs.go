package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/benchrig/bench/dataset/table"
)

// tokInputsField is the column that prompts are in unless Field says another.
const tokInputsField = "tok_inputs"

// buildTokInputs sends prompts that somebody has tokenized before: the first N
// rows of a file, or with Shuffle N rows in the order of vLLM's shuffle. No
// text is ever made of them. The file knows no answers, so their length is
// Spec.OutputLen.
func buildTokInputs(ctx context.Context, spec Spec, _ Tokenizer) (*Set, error) {
	if spec.OutputLen == 0 {
		return nil, errors.New("output length 0: the file has none, so the load must say it, at least 1 token")
	}

	t2, err := table.OpenIDs(ctx, spec.Path, cmp.Or(spec.Field, tokInputsField))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", spec.Path, table.Cause(err))
	}
	defer func() { _ = t2.Close() }() // nothing was written

	rows, err := readRows(ctx, t2, rowOrder(t2.Rows(), spec)[:min(spec.N, t2.Rows())])
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", spec.Path, table.Cause(err))
	}

	prompts := make([]Prompt, len(rows))
	for i, ids := range rows {
		prompts[i] = Prompt{TokenIDs: ids, InputTokens: len(ids), OutputTokens: spec.OutputLen}
	}

	spec.TokenIDs = false // they are ids whatever was asked for
	return oversample(prompts, spec), nil
}

// readRows returns the ids of rows in any order, each checked.
func readRows(ctx context.Context, t2 table.IDs, order []int) ([][]int, error) {
	if len(order) == 0 {
		return nil, errors.New("the file has no prompts")
	}

	sorted := slices.Sorted(slices.Values(order))
	read, err := t2.IDs(ctx, sorted)
	if err != nil {
		return nil, err
	}

	out := make([][]int, len(order))
	for i, row := range order {
		at, _ := slices.BinarySearch(sorted, row)
		if err := table.CheckIDs(read[at]); err != nil {
			return nil, fmt.Errorf("row %d: %w", row+1, err)
		}
		out[i] = read[at]
	}

	return out, ctx.Err()
}
