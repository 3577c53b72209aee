package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// TestReportFromDisk takes records to a folder and the folder to a report, as
// a run does and as a reader does later, and asks for the same bytes.
func TestReportFromDisk(t *testing.T) {
	folder, err := store.Create(t.TempDir(), "quickstart", "r1")
	if err != nil {
		t.Fatal(err)
	}
	refs := []results.StepRef{
		{ID: "a-c2-r1", Variant: "a", Point: "c2", Repeat: 1, Attempt: 1},
		{ID: "b-c2-r1", Variant: "b", Point: "c2", Repeat: 1, Attempt: 1},
		{ID: "c-c2-r1", Variant: "c", Point: "c2", Repeat: 1, Attempt: 1},
	}
	manifest := results.Manifest{
		Bench: "v1", Scenario: "quickstart", Run: "r1", StartedAt: "2026-01-02T03:04:05Z",
		Planned: refs,
	}
	if err := folder.WriteManifest(manifest); err != nil {
		t.Fatal(err)
	}
	journal, err := folder.OpenJournal()
	if err != nil {
		t.Fatal(err)
	}
	appendEvent := func(e results.Event) {
		t.Helper()
		if err := journal.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	appendEvent(results.Event{Kind: results.RunStarted})
	for i, ref := range refs[:2] {
		appendEvent(results.Event{Kind: results.StepStarted, Step: ref.ID, Attempt: 1})
		r := measure(t, folder, ref, 0.01*float64(i+1))
		if err := folder.WriteResult(r); err != nil {
			t.Fatal(err)
		}
		appendEvent(results.Event{Kind: results.StepFinished, Step: ref.ID, Attempt: 1, Verdict: r.Verdict})
	}
	appendEvent(results.Event{Kind: results.StepStarted, Step: refs[2].ID, Attempt: 1})
	if err := journal.Close(); err != nil { // here the process is killed
		t.Fatal(err)
	}
	read := func() []byte {
		run, err := store.Read(folder.Dir())
		if err != nil {
			t.Fatal(err)
		}
		if err := WriteFiles(run); err != nil {
			t.Fatal(err)
		}
		return print(t, func(out *bytes.Buffer) error { return Write(out, run, table.Options{}) })
	}
	first := read()
	golden(t, "from-disk.txt", first)
	if diff := cmp.Diff(string(first), string(read())); diff != "" {
		t.Errorf("the report changed by writing the report files (-first +again):\n%s", diff)
	}
}

// measure writes the records of a step and makes its result from those on disk.
func measure(t *testing.T, folder *store.Folder, ref results.StepRef, gap float64) *results.Result {
	t.Helper()
	w, err := folder.RecordWriter(ref.ID)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		sent := float64(i/2) * 10 * gap
		r := results.Record{
			Index: i, RequestID: fmt.Sprint(i), IntendedS: sent, SentS: &sent, ChunkKinds: strings.Repeat("t", 8),
			InputTokens: new(16), OutputTokens: new(8), AskedOutputTokens: 8, OutputTokensSource: results.CountUsage,
			FinishReason: "length",
		}
		for k := range 8 {
			r.ChunkS = append(r.ChunkS, sent+gap*float64(k+2))
		}
		r.EndS = sent + gap*9.5
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var records []results.Record
	for r, err := range store.ReadRecords(folder.StepDir(ref.ID)) {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	e := metrics.Evidence{
		Records: records,
		Figures: metrics.Summarize(records, metrics.Params{DurationS: 100 * gap, Asked: 20}),
	}
	r := &results.Result{
		Scenario: "quickstart", Run: "r1", Step: ref, Warnings: metrics.Warnings(e),
		Figures: &e.Figures,
	}
	r.Verdict, r.Failure = metrics.Verdict(e, r.Warnings, 1)
	return r
}
