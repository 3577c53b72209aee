package dataset

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchrig/bench/dataset/table"
)

// hfFields are the columns that prompts are looked for in, the best first.
var hfFields = []string{"conversations", "conversation", "messages", "prompt", "instruction", "question", "text"}

// buildHF samples a chat dataset as Hugging Face's hub has them, from local
// files: one file, or all those of a folder in the order of their names. Which
// column holds the prompts is found by name unless Field says it. The filter is
// that of sharegpt; the order with Shuffle is our own, as that of the datasets
// library depends on its version and its buffer.
func buildHF(ctx context.Context, spec Spec, tok Tokenizer) (*Set, error) {
	paths, err := table.Files(filepath.Join(spec.Path, spec.Subset))
	if err != nil {
		return nil, err
	}

	var tables []table.Chats
	defer func() {
		for _, t := range tables {
			_ = t.Close() // nothing was written
		}
	}()
	for _, path := range paths {
		t, err := table.Open(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, table.Cause(err))
		}
		tables = append(tables, t)
	}

	field, err := hfField(spec.Field, tables[0].Columns())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", paths[0], err)
	}

	s := sampler{tables: tables, paths: paths, field: field, spec: spec, tok: tok}
	kept, err := s.sample(ctx)
	if err != nil {
		return nil, err
	}

	set := oversample(kept, spec)
	if s.addsInput(tables[0]) {
		set.Notes = append(set.Notes, `the column "input" follows the column "instruction"`)
	}
	if tok == nil {
		set.Notes = append(set.Notes, estimateNote)
	}

	return set, nil
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
	tables []table.Chats
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
		total += t.Rows()
	}

	order := rowOrder(total, s.spec)
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
		return nil, fmt.Errorf("none of %d rows passes the filter on column %q: %d user turns, each of %d to %d "+
			"tokens, with its answer at most %d",
			total, s.field, cmp.Or(s.spec.Turns, 1), minTurnTokens, maxPromptTokens, maxTotalTokens)
	}

	return kept, nil
}

// read returns the exchanges of the rows picked.
func (s sampler) read(ctx context.Context, picked []int) (map[int][]table.Exchange, error) {
	sorted := slices.Sorted(slices.Values(picked))
	out := map[int][]table.Exchange{}
	first := 0
	for i, t := range s.tables {
		var own []int
		for len(sorted) > 0 && sorted[0] < first+t.Rows() {
			own, sorted = append(own, sorted[0]-first), sorted[1:]
		}
		if len(own) == 0 {
			first += t.Rows()
			continue
		}
		err := t.Each(ctx, s.field, own, func(row int, said []table.Utterance) error {
			pairs := table.Exchanges(said)
			out[first+row] = pairs[:min(len(pairs), cmp.Or(s.spec.Turns, 1))]
			return nil
		})
		if err == nil && s.addsInput(t) {
			err = t.Each(ctx, "input", own, func(row int, said []table.Utterance) error {
				addInput(out[first+row], table.Exchanges(said))
				return nil
			})
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", s.paths[i], table.Cause(err))
		}
		first += t.Rows()
	}

	return out, nil
}

// addsInput reports whether a table of instructions has something that they are about in
// a column of its own, as Alpaca has them.
func (s sampler) addsInput(t table.Chats) bool {
	return s.field == "instruction" && s.spec.Field == "" && slices.Contains(t.Columns(), "input")
}

// addInput puts what an instruction is about behind it.
func addInput(asked, input []table.Exchange) {
	if len(asked) > 0 && len(input) > 0 && input[0].Asked != "" {
		asked[0].Asked += "\n\n" + input[0].Asked
	}
}
