package bundle

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// runFolder makes a run folder with one finished step and, beside what every
// run has, the files given.
func runFolder(t *testing.T, finished bool, files map[string]string) string {
	t.Helper()
	folder, err := store.Create(t.TempDir(), "night", "20260101-000000-abcd")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		data := []byte(text)
		if filepath.Ext(name) == compressed {
			data = squeeze(t, text)
		}
		if err := folder.WriteFile(name, data); err != nil {
			t.Fatal(err)
		}
	}
	ref := results.StepRef{ID: "a_c1_r1", Variant: "a", Point: "c1", Repeat: 1, Attempt: 1}
	if err := folder.WriteManifest(results.Manifest{
		Bench: "v1", Scenario: "night", Run: "20260101-000000-abcd",
		Planned: []results.StepRef{ref},
	}); err != nil {
		t.Fatal(err)
	}
	if err := folder.WriteResult(&results.Result{
		Step: ref, Verdict: results.OK, Node: "zeus",
		Servers: []results.Server{
			{Argv: []string{"vllm", "--api-key", "opensesame-1"}, Env: map[string]string{"HF_TOKEN": "quiet value"}},
		},
	}); err != nil {
		t.Fatal(err)
	}
	journal, err := folder.OpenJournal()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = journal.Close() }()
	events := []results.Event{{Kind: results.RunStarted}, {Kind: results.StepStarted, Step: ref.ID, Attempt: 1}}
	if finished {
		events = append(events, results.Event{
			Kind: results.StepFinished, Step: ref.ID, Attempt: 1,
			Verdict: results.OK,
		}, results.Event{Kind: results.RunFinished})
	}
	for _, e := range events {
		if err := journal.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	return folder.Dir()
}

func squeeze(t *testing.T, text string) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll([]byte(text), nil)
}

// packed is a folder as a bundle.
func packed(t *testing.T, dir string, o Options) ([]byte, *Index) {
	t.Helper()
	var out bytes.Buffer
	index, err := writeBundle(t.Context(), &out, dir, o)
	if err != nil {
		t.Fatalf("Write(%s): %v", dir, err)
	}
	return out.Bytes(), index
}

// unpacked are the members of a bundle, zstd taken off.
func unpacked(t *testing.T, data []byte) map[string]string {
	t.Helper()
	r, err := newReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := r.Extract(t.Context(), dir, func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, m := range r.Index.Members {
		text, err := os.ReadFile(filepath.Join(dir, m.Name))
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(m.Name) == compressed {
			z, err := zstd.NewReader(nil)
			if err != nil {
				t.Fatal(err)
			}
			if text, err = z.DecodeAll(text, nil); err != nil {
				t.Fatal(err)
			}
			z.Close()
		}
		all[m.Name] = string(text)
	}
	return all
}
