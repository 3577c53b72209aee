package dataset

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/benchrig/bench/dataset/prng"
	"github.com/benchrig/bench/dataset/sessions"
	"github.com/benchrig/bench/dataset/table"
	"github.com/benchrig/bench/internal/text"
)

// traceRow is one request of a timed trace.
type traceRow struct {
	at            float64 // in the trace's unit
	input, output int
	hashes        []uint64
}

// Blocks of known traces, and what their time stamps count: Mooncake's
// milliseconds, Alibaba's seconds.
const (
	mooncakeBlock = 512
	alibabaBlock  = 16
)

// errEnough ends a reading that has what it wants.
var errEnough = errors.New("enough")

// buildTrace reads a timed trace, one object a line with timestamp,
// input_length, output_length and hash_ids, and makes prompts of these lengths.
// A block with the same hash is the same text in all of them, so that a prefix
// cache hits where it hit in the trace. Blocks come from the seed and the hash;
// those of vLLM's client come from Python's salted string hash and are others in
// each run of it.
func buildTrace(ctx context.Context, file *os.File, spec Spec, tok Tokenizer) (*Set, error) {
	rows, err := readTrace(ctx, file, spec.N, spec.TraceKeys.orDefault())
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", spec.Path, err)
	}

	block, unit, err := spec.blocks(rows)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", spec.Path, err)
	}

	b, err := newBlocks(spec, tok, block)
	if err != nil {
		return nil, err
	}

	set := &Set{Prompts: make([]Prompt, len(rows))}
	for i, row := range rows {
		if set.Prompts[i], err = b.prompt(ctx, row); err != nil {
			return nil, fmt.Errorf("prompt %d: %w", i+1, err)
		}
		at := (row.at - rows[0].at) * unit
		set.Prompts[i].At = &at
		if spec.OutputLen > 0 {
			set.Prompts[i].OutputTokens = spec.OutputLen
		}
	}

	if len(rows) < spec.N {
		set.Notes = append(set.Notes, fmt.Sprintf("the trace has %s, %d were asked: no more are sent",
			text.Count(len(rows), "request"), spec.N))
	}

	set.Notes = append(set.Notes, b.notes()...)
	return set, nil
}

// readTrace returns the first count rows in the order of their times.
func readTrace(ctx context.Context, r io.Reader, count int, keys TraceKeys) ([]traceRow, error) {
	var rows []traceRow
	err := table.EachLine(ctx, r, func(number int, _ table.Span, line []byte) error {
		row, err := keys.row(line)
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if rows = append(rows, row); len(rows) == count {
			return errEnough
		}
		return nil
	})

	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, errors.New("the trace has no requests")
	}

	slices.SortStableFunc(rows, func(a, b traceRow) int { return cmp.Compare(a.at, b.at) })
	return rows, nil
}

func (k TraceKeys) orDefault() TraceKeys {
	return TraceKeys{
		Timestamp: cmp.Or(k.Timestamp, "timestamp"), InputLength: cmp.Or(k.InputLength, "input_length"),
		OutputLength: cmp.Or(k.OutputLength, "output_length"), HashIDs: cmp.Or(k.HashIDs, "hash_ids"),
	}
}

// row reads one line of a trace.
func (k TraceKeys) row(line []byte) (traceRow, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return traceRow{}, table.JSONError(err)
	}

	var l struct {
		At            *float64
		Input, Output *int
		Hashes        []uint64
	}
	for _, field := range []struct {
		key  string
		into any
	}{{k.Timestamp, &l.At}, {k.InputLength, &l.Input}, {k.OutputLength, &l.Output}, {k.HashIDs, &l.Hashes}} {
		text, ok := fields[field.key]
		if !ok {
			continue
		}
		if err := json.Unmarshal(text, field.into); err != nil {
			if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
				return traceRow{}, fmt.Errorf("%q is a JSON %s", field.key, wrong.Value)
			}
			return traceRow{}, fmt.Errorf("%q: %w", field.key, table.JSONError(err))
		}
	}

	switch {
	case l.At == nil || l.Input == nil || l.Output == nil:
		return traceRow{}, fmt.Errorf("want %q, %q and %q", k.Timestamp, k.InputLength, k.OutputLength)
	case !(*l.At >= 0 && *l.At < 1e15):
		return traceRow{}, fmt.Errorf("%q is %v, want 0 or more", k.Timestamp, *l.At)
	case *l.Input < 1 || *l.Input > maxTokens:
		return traceRow{}, fmt.Errorf("%q is %d, want 1 to %d", k.InputLength, *l.Input, maxTokens)
	case *l.Output < 0 || *l.Output > maxTokens:
		return traceRow{}, fmt.Errorf("%q is %d, want 0 to %d", k.OutputLength, *l.Output, maxTokens)
	}

	return traceRow{*l.At, *l.Input, max(1, *l.Output), l.Hashes}, nil
}

// blocks are the tokens of a block and the seconds of a time stamp's unit: as
// asked, or those of the known trace whose lengths fit.
func (s Spec) blocks(rows []traceRow) (block int, unit float64, err error) {
	block, unit = s.BlockLen, s.TimeUnitS
	if block == 0 {
		block = knownBlock(rows)
	}

	if unit == 0 {
		unit = 1
		if block == mooncakeBlock {
			unit = 1e-3
		}
	}

	switch {
	case block == 0:
		return 0, 0, fmt.Errorf("the hashes fit blocks of neither %d nor %d tokens: set the block length",
			mooncakeBlock, alibabaBlock)
	case !(unit > 0 && unit <= 1e6):
		return 0, 0, fmt.Errorf("time unit %v: want seconds, more than 0", unit)
	}

	return block, unit, nil
}

// knownBlock is the block of the known trace whose lengths all rows fit; 0: none.
func knownBlock(rows []traceRow) int {
	for _, known := range []int{mooncakeBlock, alibabaBlock} {
		if !slices.ContainsFunc(rows, func(r traceRow) bool { return !r.fits(known) }) {
			return known
		}
	}
	return 0
}

// fits reports whether the row has as many hashes as blocks, or none.
func (r traceRow) fits(block int) bool {
	return len(r.hashes) == 0 || len(r.hashes) == (r.input+block-1)/block
}

// blocks makes the text or the ids of hashed blocks.
type blocks struct {
	seed   uint64
	length int // tokens of a block
	ids    *pool
	tok    Tokenizer
	known  map[uint64]Prompt // blocks that came before
	fresh  uint64            // hashes given to blocks without one so far
	off    lengthErrors
}

func newBlocks(spec Spec, tok Tokenizer, length int) (*blocks, error) {
	b := &blocks{seed: spec.Seed, length: length, tok: tok, known: map[uint64]Prompt{}}
	if spec.TokenIDs {
		ids, err := newPool(spec, tok)
		if err != nil {
			return nil, err
		}
		b.ids = &ids
	}
	return b, nil
}

// prompt joins the row's blocks and cuts the last one.
func (b *blocks) prompt(ctx context.Context, row traceRow) (Prompt, error) {
	out := Prompt{OutputTokens: row.output}
	var words []string
	for left, k := row.input, 0; left > 0; left, k = left-b.length, k+1 {
		hash := uint64(1)<<63 | b.fresh
		if k < len(row.hashes) {
			hash = row.hashes[k] &^ (1 << 63)
		} else {
			b.fresh++
		}
		block, err := b.block(ctx, hash)
		if err != nil {
			return Prompt{}, err
		}
		if b.ids != nil {
			out.TokenIDs = append(out.TokenIDs, block.TokenIDs[:min(left, b.length)]...)
			continue
		}
		fields := strings.Fields(block.Text)
		if left < b.length {
			fields = fields[:max(1, len(fields)*left/b.length)]
		}
		words = append(words, fields...)
	}

	if b.ids != nil {
		out.InputTokens = len(out.TokenIDs)
		return out, ctx.Err()
	}

	out.Text = strings.Join(words, " ")
	if b.tok == nil {
		return out, ctx.Err()
	}

	tokens, err := countTokens(ctx, b.tok, out.Text)
	out.InputTokens = tokens
	b.off.add(tokens, row.input)
	return out, err
}

// block is the block of a hash: random, but the same for the same seed and hash.
func (b *blocks) block(ctx context.Context, hash uint64) (Prompt, error) {
	if known, ok := b.known[hash]; ok {
		return known, nil
	}

	rng := prng.NewPCG64(mix(b.seed, hash))
	var made Prompt
	if b.ids != nil {
		for _, index := range rng.Integers(0, len(b.ids.allowed), b.length) {
			made.TokenIDs = append(made.TokenIDs, b.ids.allowed[index])
		}
	} else {
		words, _, err := newWriter(rng, b.tok).compose(ctx, nil, nil, b.length)
		if err != nil {
			return Prompt{}, err
		}
		made.Text = strings.Join(words, " ")
	}

	b.known[hash] = made
	return made, nil
}

// mix spreads two numbers over one (the finalizer of SplitMix64).
func mix(a, b uint64) uint64 {
	v := a*0x9e3779b97f4a7c15 + b
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

func (b *blocks) notes() []string {
	notes := []string{"shared blocks are those of the trace, their text is made up"}
	if b.ids == nil && b.tok == nil {
		return append(notes, wordsNote)
	}
	return append(notes, b.off.notes()...)
}

// maxSessionBytes bounds the prompts of recorded sessions, each of which holds
// all that was said before it.
const maxSessionBytes = 2 << 30

// buildSessions reads recorded sessions and makes prompts of their lengths.
// Blocks with the same hash are the same text, as in buildTrace. Where a file
// says only what each request adds, the server's own answers are between.
func buildSessions(ctx context.Context, file *os.File, spec Spec, tok Tokenizer) (*Set, error) {
	list, block, err := sessions.Read(ctx, file, spec.N)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", spec.Path, err)
	}

	b, err := newBlocks(spec, tok, blockTokens(spec, block, list))
	if err != nil {
		return nil, err
	}

	set := &Set{Prompts: make([]Prompt, len(list))}
	cut, size := 0, 0
	for i, session := range list {
		if set.Prompts[i], err = b.session(ctx, session, spec, &cut); err != nil {
			return nil, fmt.Errorf("session %q: %w", session.ID, err)
		}
		one := Set{Prompts: set.Prompts[i : i+1]}
		if size += one.Bytes(); size > maxSessionBytes {
			return nil, fmt.Errorf("the prompts of the first %d sessions take %d GiB: ask for fewer sessions", i+1,
				maxSessionBytes>>30)
		}
	}

	if len(list) < spec.N {
		set.Notes = append(set.Notes, fmt.Sprintf("the file has %s, %d were asked: no more are sent",
			text.Count(len(list), "session"), spec.N))
	}
	if cut > 0 {
		set.Notes = append(set.Notes, fmt.Sprintf("%d waits were longer than %g s and are cut to it", cut,
			spec.MaxWaitS))
	}

	set.Notes = append(set.Notes, b.notes()...)
	return set, nil
}

// blockTokens are the tokens of a hashed block: as asked, as the file says, as
// known traces have them, or as the lengths are on average, half a block of
// each prompt's last one counted.
func blockTokens(spec Spec, block int, list []sessions.Session) int {
	if spec.BlockLen > 0 {
		return spec.BlockLen
	}
	if block > 0 {
		return block
	}

	var rows []traceRow // with hashes
	tokens, hashed := 0, 0.0
	for _, s := range list {
		for _, r := range s.Requests {
			if len(r.Hashes) > 0 {
				rows = append(rows, traceRow{input: r.Input, hashes: r.Hashes})
				tokens += r.Input
				hashed += float64(len(r.Hashes)) - 0.5
			}
		}
	}
	if known := knownBlock(rows); known > 0 {
		return known
	}
	return max(1, int(float64(tokens)/hashed+0.5))
}

// session makes the requests of a session. cut counts waits that were longer
// than Spec.MaxWaitS.
func (b *blocks) session(ctx context.Context, s sessions.Session, spec Spec, cut *int) (Prompt, error) {
	var p Prompt
	for i, r := range s.Requests {
		one, err := b.prompt(ctx, traceRow{input: r.Input, output: r.Output, hashes: r.Hashes})
		if err != nil {
			return Prompt{}, fmt.Errorf("request %d: %w", i+1, err)
		}
		if spec.OutputLen > 0 {
			one.OutputTokens = spec.OutputLen
		}
		if i == 0 {
			p = one
			continue
		}

		turn := Turn{
			Text: one.Text, TokenIDs: one.TokenIDs, InputTokens: one.InputTokens, OutputTokens: one.OutputTokens,
			Whole: r.Whole, After: r.After, WaitS: r.WaitS,
		}
		if !r.Whole {
			turn.InputTokens = 0 // what was said before counts too
		}
		if spec.MaxWaitS > 0 && r.WaitS != nil && *r.WaitS > spec.MaxWaitS {
			turn.WaitS = new(spec.MaxWaitS)
			*cut++
		}
		p.Turns = append(p.Turns, turn)
	}

	p.At = &s.StartS
	return p, nil
}
