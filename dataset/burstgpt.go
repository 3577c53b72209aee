package dataset

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/benchrig/bench/dataset/prng"
	"github.com/benchrig/bench/dataset/table"
)

// burstModel is the model whose rows vLLM's client uses.
const burstModel = "GPT-4"

// burstRow is one request of the trace.
type burstRow struct {
	at            float64 // seconds
	input, output int
}

// buildBurstGPT reads a BurstGPT trace: CSV with the columns Timestamp, Model,
// Request tokens, Response tokens. With Shuffle, or as vLLM, rows are sampled
// with the seed as there and their times are dropped; else the first N rows are
// taken, with their times from the first one on.
func buildBurstGPT(ctx context.Context, file *os.File, spec Spec, tok Tokenizer) (*Set, error) {
	model := spec.Subset
	if model == "" {
		model = burstModel
	}

	sample := spec.Shuffle || spec.Compat != CompatNewest
	most := spec.N
	if sample {
		most = table.MaxRows
	}

	rows, err := readBurst(ctx, file, model, most)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", spec.Path, err)
	}

	var notes []string
	if sample {
		rows, notes = sampleBurst(rows, spec)
	} else if len(rows) < spec.N {
		notes = []string{fmt.Sprintf("the trace has %d usable rows, %d were asked: no more are sent", len(rows),
			spec.N)}
	}

	set, err := burstPrompts(ctx, rows, spec, tok)
	if err != nil {
		return nil, err
	}

	for i := range set.Prompts {
		if !sample {
			at := rows[i].at - rows[0].at
			set.Prompts[i].At = &at
		}
	}

	set.Notes = append(notes, set.Notes...)
	return set, nil
}

// sampleBurst is the sample that pandas draws with the seed.
func sampleBurst(rows []burstRow, spec Spec) ([]burstRow, []string) {
	rng := prng.NewNumpy(spec.Seed)
	var picked []int
	var notes []string
	if spec.N <= len(rows) {
		picked = rng.Permutation(len(rows))[:spec.N]
	} else {
		picked = rng.RandInt(0, len(rows), spec.N)
		notes = []string{fmt.Sprintf("the trace has %d usable rows, %d were asked: rows are drawn more than once",
			len(rows), spec.N)}
	}

	out := make([]burstRow, len(picked))
	for i, index := range picked {
		out[i] = rows[index]
	}

	return out, notes
}

// readBurst returns up to most rows of a model that have an answer, at least one.
func readBurst(ctx context.Context, r io.Reader, model string, most int) ([]burstRow, error) {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	header, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("first line: %w", csvError(err))
	}

	columns, err := burstColumns(header)
	if err != nil {
		return nil, err
	}

	var rows []burstRow
	for len(rows) < most {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, csvError(err)
		}
		if record[columns[1]] != model {
			continue
		}
		row, err := burstRequest(record, columns)
		if err != nil {
			line, _ := in.FieldPos(0)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if row.output > 0 {
			rows = append(rows, row)
		}
		if len(rows)&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}

	if len(rows) == 0 {
		return nil, fmt.Errorf("no row of model %q with an answer", model)
	}

	return rows, ctx.Err()
}

// burstNames are the columns used.
var burstNames = [...]string{"Timestamp", "Model", "Request tokens", "Response tokens"}

func burstColumns(header []string) (at [len(burstNames)]int, err error) {
	for i, name := range burstNames {
		if at[i] = slices.Index(header, name); at[i] < 0 {
			return at, fmt.Errorf("no column %q among %q", name, header)
		}
	}
	return at, nil
}

func burstRequest(record []string, at [len(burstNames)]int) (row burstRow, err error) {
	if row.at, err = strconv.ParseFloat(record[at[0]], 64); err != nil || !(row.at >= 0 && row.at < 1e12) {
		return row, fmt.Errorf("%s is %q, want seconds", burstNames[0], record[at[0]])
	}
	for i, into := range map[int]*int{2: &row.input, 3: &row.output} {
		number, err := strconv.ParseFloat(record[at[i]], 64)
		if err != nil || !(number >= 0 && number <= maxTokens) {
			return row, fmt.Errorf("%s is %q, want 0 to %d", burstNames[i], record[at[i]], maxTokens)
		}
		*into = int(number)
	}
	return row, nil
}

func csvError(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty")
	}
	return table.Cause(err)
}

// burstPrompts are ids that count up from the row's number, as vLLM has them,
// or that text; else words.
func burstPrompts(ctx context.Context, rows []burstRow, spec Spec, tok Tokenizer) (*Set, error) {
	if !spec.TokenIDs && !spec.canDecode(tok) {
		return traceWords(ctx, rows, spec, tok)
	}

	ids, err := newPool(spec, tok)
	if err != nil {
		return nil, err
	}

	ids.allowed = nil // all of them
	ids.fill(nil)
	set := &Set{Prompts: make([]Prompt, len(rows))}
	if !spec.TokenIDs {
		return set, burstTexts(ctx, set, rows, ids, spec, tok)
	}

	for i, row := range rows {
		run := ids.run(i, max(1, row.input))
		set.Prompts[i] = Prompt{TokenIDs: run, InputTokens: len(run), OutputTokens: row.output}
	}

	return set, ctx.Err()
}

// burstTexts writes the ids of each row as text. vLLM's client takes their
// number for the length of the text, whatever it reads as; under our own rules
// the text is brought to its length.
func burstTexts(ctx context.Context, set *Set, rows []burstRow, ids pool, spec Spec, tok Tokenizer) error {
	rng := prng.NewPCG64(spec.Seed)
	c, err := newCoder(tok, ids.size, rng.Integers)
	if err != nil {
		return err
	}

	off := lengthErrors{}
	for i, row := range rows {
		asked := max(1, row.input)
		p := Prompt{InputTokens: asked, OutputTokens: row.output}
		var counted int
		if spec.Compat == CompatNewest {
			var read []int
			want := max(1, asked-ids.added)
			if p.Text, read, err = c.fit(ctx, ids.run(i, want), want); err == nil {
				counted = len(read) + ids.added
				p.InputTokens = counted
			}
		} else if p.Text, err = c.decode(ctx, ids.run(i, asked)); err == nil {
			counted, err = c.length(ctx, p.Text)
		}
		if err != nil {
			return fmt.Errorf("prompt %d: %w", i+1, err)
		}
		off.add(counted, asked)
		set.Prompts[i] = p
	}

	set.Notes = append(set.Notes, off.notes()...)
	set.noteSame()

	return nil
}

// traceWords makes a text of each row's length.
func traceWords(ctx context.Context, rows []burstRow, spec Spec, tok Tokenizer) (*Set, error) {
	m := &maker{count: tok != nil, words: newWriter(prng.NewPCG64(spec.Seed), tok)}
	set := &Set{Prompts: make([]Prompt, len(rows))}
	for i, row := range rows {
		p, err := m.make(ctx, Prompt{}, max(1, row.input), i)
		if err != nil {
			return nil, fmt.Errorf("prompt %d: %w", i+1, err)
		}
		p.OutputTokens = row.output
		set.Prompts[i] = p
	}
	set.Notes = m.notes()
	return set, nil
}
