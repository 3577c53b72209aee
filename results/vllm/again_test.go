package vllm_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/results/vllm"
)

// hostile are records in which the readings differ: answers whose [DONE] came
// long after the last token, one that waited for its turn, one whose events
// parsers took elsewhere, a failure, and a request that was never made.
func hostile() []results.Record {
	answer := func(i int, intended, sent float64) results.Record {
		return results.Record{
			Index: i, IntendedS: intended, SentS: &sent, ChunkS: []float64{sent + 0.1, sent + 0.2, sent + 0.3},
			ChunkKinds: "ttu", DoneS: new(sent + 0.7), EndS: sent + 0.7,
			LocalInputTokens: new(5), InputTokens: new(6), OutputTokens: new(3), OutputTokensSource: results.CountUsage,
			TextTokens: new(4), Text: "ü",
		}
	}
	late, waited, prompt, elsewhere, failed := answer(0, 0, 0.01), answer(1, 0.1, 1.0/3), answer(2, 0.2, 0.2),
		answer(3, 0.3, 0.4), answer(4, 0.5, 0.5)
	elsewhere.VLLMReading = map[results.Generation]results.ClientReading{
		results.VLLM06: {ChunkS: []float64{0.55, 0.6}, ChunkKinds: "tt", DoneS: new(0.9)},
		results.VLLM:   {ChunkS: []float64{0.55}, ChunkKinds: "t", OutputTokens: new(2)},
	}
	failed.Failure = results.Failf(results.FailTransport, "reset")
	never := results.Record{Index: 5, IntendedS: 0.6, Failure: results.Failf(results.FailCanceled, "ended by us")}
	return []results.Record{waited, late, elsewhere, prompt, failed, never}
}

// savedBy is what each generation's client would have saved of a step.
func savedBy(t *testing.T, r *results.Result, records []results.Record) map[results.Generation]string {
	t.Helper()
	saved := map[results.Generation]string{}
	p := metrics.Params{
		DurationS: 2, Asked: 6, Percentiles: []float64{50, 99}, API: r.Asked.API,
		UsageAsked: r.Asked.UsageAsked(),
	}
	r.Compat = metrics.CompatReadings(records, p)
	for _, g := range []results.Generation{results.VLLM, results.VLLM06} {
		data, err := vllm.JSON(r, records, vllm.Options{Generation: g, Detailed: true})
		if err != nil {
			t.Fatal(err)
		}
		saved[g] = string(data)
	}
	return saved
}

// throughDisk writes the records of a step and reads them back.
func throughDisk(t *testing.T, records []results.Record) []results.Record {
	t.Helper()
	dir := t.TempDir()
	w, err := store.NewRecordWriter(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range records {
		if err := w.Write(record); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var read []results.Record
	for record, err := range store.ReadRecords(dir) {
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, record)
	}
	return read
}

// What a client would have saved needs nothing but the files of the step: it is
// the same when it is made from them, queue times and the times of [DONE]
// included.
func TestJSONIsMadeAgainFromAStepOnDisk(t *testing.T) {
	records := hostile()
	r := &results.Result{StartedAt: "2026-11-27T22:51:25Z", Asked: results.Asked{
		API: "completions", NumPrompts: 6,
		MaxConcurrency: new(2), Body: `{"stream_options":{"include_usage":true}}`,
	}}
	want := savedBy(t, r, records)
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var read results.Result
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, savedBy(t, &read, throughDisk(t, records))); diff != "" {
		t.Errorf("what the clients save (-from the pass +from disk):\n%s", diff)
	}
	for g, known := range map[results.Generation]string{results.VLLM: `"queue_times": [0.01, 0.2333333333333333, 0.0, 0.10000000000000003, 0.0]`, results.VLLM06: `"mean_tpot_ms": 1`} {
		if !strings.Contains(want[g], known) {
			t.Errorf("%s saves %s, want %s in it", g, want[g], known)
		}
	}
}
