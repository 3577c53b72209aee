package export

import (
	"io"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/report/export/parquet"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// requestColumns are the columns of Requests. Times are in seconds.
func requestColumns() []parquet.Column {
	const text, whole, float, truth = parquet.Text, parquet.Whole, parquet.Float, parquet.Truth

	return []parquet.Column{
		{Name: "run_id", Kind: text},
		{Name: "step", Kind: text},
		{Name: "variant", Kind: text},
		{Name: "point", Kind: text},
		{Name: "repeat", Kind: whole},
		{Name: "simulated", Kind: truth},
		{Name: "index", Kind: whole},
		{Name: "replica", Kind: whole},
		{Name: "conversation", Kind: whole},
		{Name: "turn", Kind: whole},
		{Name: "class", Kind: text},
		{Name: "adapter", Kind: text},
		{Name: "probe", Kind: truth},

		{Name: "intended_s", Kind: float},
		{Name: "sent_s", Kind: float},
		{Name: "end_s", Kind: float},
		{Name: "ttft_s", Kind: float},
		{Name: "tpot_s", Kind: float},
		{Name: "e2el_s", Kind: float},

		{Name: "input_tokens", Kind: whole},
		{Name: "output_tokens", Kind: whole},
		{Name: "cached_tokens", Kind: whole},
		{Name: "chunks", Kind: whole},
		{Name: "finish_reason", Kind: text},
		{Name: "failure", Kind: text},
	}
}

// Written counts the requests of a Parquet file, and the records that were left out.
type Written struct{ Requests, Unreadable int }

// Requests writes all requests of a run, those of probes included, as a Parquet
// file, one per row, steps in the order of the report. Their records lie in its folder.
func Requests(w io.Writer, run *results.Run, folder *store.Folder) (done Written, err error) {
	table, err := parquet.NewWriter(w, "bench", requestColumns())
	if err != nil {
		return done, err
	}

	for _, s := range run.Steps {
		for record, err := range store.ReadEveryRecord(folder.StepDir(s.Result.Step.ID)) {
			if err != nil {
				done.Unreadable++ // one damaged line does not cost the others
				continue
			}
			if err := requestRow(table, s.Result, &record); err != nil {
				return done, err
			}
			done.Requests++
		}
	}

	return done, table.Close()
}

// nameOrNull is null for a request that is of no class, or for no adapter.
func nameOrNull(name string) *string {
	if name == "" {
		return nil
	}
	return &name
}

func requestRow(table *parquet.Writer, r *results.Result, record *results.Record) error {
	o := metrics.Observe(record, metrics.IsToken)
	var conversation, turn *int
	if record.Conversation > 0 {
		conversation, turn = &record.Conversation, &record.Turn
	}
	input := record.InputTokens
	if input == nil {
		input = record.LocalInputTokens
	}
	var failure *string
	if o.Failure != nil {
		failure = new(string(o.Failure.Class))
	}

	return table.Row(
		r.Run, r.Step.ID, r.Step.Variant, r.Step.Point, r.Step.Repeat, r.Simulated,
		record.Index, record.Replica, conversation, turn, nameOrNull(record.Class), nameOrNull(record.Adapter),
		record.Probe,
		record.IntendedS, record.SentS, record.EndS, o.TTFT(), o.TPOT(), o.E2EL(),
		input, record.OutputTokens, record.CachedTokens, len(o.TokenS),
		record.FinishReason, failure,
	)
}
