package dataset

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchrig/bench/dataset/prng"
)

// hfFields are the columns that prompts are looked for in, the best first.
var hfFields = []string{"conversations", "conversation", "messages", "prompt", "instruction", "question", "text"}

// chatTable is a file whose rows are conversations.
type chatTable interface {
	rows() int
	columns() []string
	// each calls use with what was said in the column field, for each of the
	// rows picked, which ascend.
	each(ctx context.Context, field string, picked []int, use func(row int, said []utterance) error) error
	close() error
}

// buildHF samples a chat dataset as Hugging Face's hub has them, from local
// files: one file, or all those of a folder in the order of their names. Which
// column holds the prompts is found by name unless Field says it. The filter is
// that of sharegpt; the order with Shuffle is our own, as that of the datasets
// library depends on its version and its buffer.
func buildHF(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error) {
	paths, err := hfFiles(filepath.Join(spec.Path, spec.Subset))
	if err != nil {
		return nil, err
	}
	var tables []chatTable
	defer func() {
		for _, t := range tables {
			_ = t.close() // nothing was written
		}
	}()
	for _, path := range paths {
		t, err := openTable(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, cause(err))
		}
		tables = append(tables, t)
	}
	field, err := hfField(spec.Field, tables[0].columns())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", paths[0], err)
	}
	s := sampler{tables: tables, paths: paths, field: field, spec: spec, tok: tok}
	kept, err := s.sample(ctx)
	if err != nil {
		return nil, err
	}
	set := oversample(kept, spec)
	if tok == nil {
		set.Notes = append(set.Notes, estimateNote)
	}
	return set, nil
}

// hfFiles lists the files of a dataset.
func hfFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, cause(err))
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var out []string
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && slices.Contains([]string{".parquet", ".jsonl", ".json"}, strings.ToLower(filepath.Ext(p))) {
			out = append(out, p)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, cause(err))
	case len(out) == 0:
		return nil, fmt.Errorf("%s: no .parquet, .jsonl or .json file in it", path)
	}
	return out, nil
}

// openTable opens a file by the end of its name.
func openTable(ctx context.Context, path string) (chatTable, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	var t chatTable
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

func hfField(asked string, columns []string) (string, error) {
	if asked != "" {
		if slices.Contains(columns, asked) {
			return asked, nil
		}
		return "", fmt.Errorf("no column %q; it has %s", asked, strings.Join(columns, ", "))
	}
	for _, name := range hfFields {
		if slices.Contains(columns, name) {
			return name, nil
		}
	}
	return "", fmt.Errorf("no column of prompts known by name: set the field to one of %s", strings.Join(columns, ", "))
}

// sampler takes prompts from tables in an order of rows.
type sampler struct {
	tables []chatTable
	paths  []string
	field  string
	spec   Spec
	tok    Tokenizer
}

// sample returns up to N prompts, at least one. Rows are read in batches, so
// that memory follows N and not the files.
func (s sampler) sample(ctx context.Context) ([]Prompt, error) {
	total := 0
	for _, t := range s.tables {
		total += t.rows()
	}
	order := make([]int, total)
	for i := range order {
		order[i] = i
	}
	if s.spec.Shuffle {
		prng.NewPython(s.spec.Seed).Shuffle(total, func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	var kept []Prompt
	for batch := s.spec.N + 64; len(order) > 0 && len(kept) < s.spec.N; batch = min(2*batch, 1<<16) {
		picked := order[:min(batch, len(order))]
		order = order[len(picked):]
		said, err := s.read(ctx, picked)
		if err != nil {
			return nil, err
		}
		for _, row := range picked {
			p, ok, err := turnsPrompt(ctx, said[row], s.spec, s.tok)
			if err != nil {
				return nil, err
			}
			if ok && len(kept) < s.spec.N {
				kept = append(kept, p)
			}
			if len(kept) == s.spec.N {
				break
			}
		}
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("none of %d rows passes the filter on column %q: %d user turns, each of %d to %d tokens, with its answer at most %d",
			total, s.field, orElse(s.spec.Turns, 1), minTurnTokens, maxPromptTokens, maxTotalTokens)
	}
	return kept, nil
}

// read returns the exchanges of the rows picked.
func (s sampler) read(ctx context.Context, picked []int) (map[int][]exchange, error) {
	sorted := slices.Sorted(slices.Values(picked))
	out := map[int][]exchange{}
	first := 0
	for i, t := range s.tables {
		var own []int
		for len(sorted) > 0 && sorted[0] < first+t.rows() {
			own, sorted = append(own, sorted[0]-first), sorted[1:]
		}
		if len(own) == 0 {
			first += t.rows()
			continue
		}
		err := t.each(ctx, s.field, own, func(row int, said []utterance) error {
			pairs := exchanges(said)
			out[first+row] = pairs[:min(len(pairs), orElse(s.spec.Turns, 1))]
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", s.paths[i], cause(err))
		}
		first += t.rows()
	}
	return out, nil
}
