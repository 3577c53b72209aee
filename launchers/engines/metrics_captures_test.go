package engines

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/launchers/scrape"
)

const metricsCaptures = "testdata/vllm-0.22-cpu/metrics/"

// capturedPage is what a captured page of vLLM 0.22 counts: the sums over its
// engines, read by hand. What it does not count is 0 here.
type capturedPage struct {
	input, output, cached, requests, steps float64
	drafts, drafted, accepted              float64
	running                                float64
	idleCounters                           bool // no engine has reported to this API server yet: no gauges
}

func capturedPages() map[string]capturedPage {
	return map[string]capturedPage{
		"start":               {},
		"served":              {input: 14, output: 16, requests: 4, steps: 16},
		"chat-0":              {},
		"chat-1":              {input: 211, output: 138, cached: 32, requests: 34, steps: 125},
		"chat-2":              {input: 322, output: 249, cached: 32, requests: 38, steps: 236},
		"no-key":              {},
		"lora":                {input: 6, output: 18, requests: 2, steps: 18},
		"pooling":             {input: 1055, requests: 14, steps: 10},
		"api-servers-2-start": {idleCounters: true},
		"api-servers-2":       {input: 6, output: 30, requests: 6, steps: 30},
		"data-parallel-2":     {input: 3198, output: 1601, requests: 51, steps: 649},
		"ngram": {
			input: 1022, output: 5377, requests: 25, steps: 2999, drafts: 582, drafted: 1706, accepted: 1131,
			running: 8,
		},
	}
}

// TestCapturedMetrics: each captured page of /metrics is understood, and none is
// left out.
func TestCapturedMetrics(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(metricsCaptures + "*.txt.gz")
	if err != nil || len(files) != len(capturedPages()) {
		t.Fatalf("%d captured pages, %v, want a row for each: there are %d", len(files), err, len(capturedPages()))
	}

	kind, _ := Lookup("vllm")
	for name, want := range capturedPages() {
		counters, gauges := kind.Translate(unpacked(t, metricsCaptures+name+".txt.gz"))
		if _, known := counters[scrape.QueueSecondsTotal]; !known {
			t.Errorf("%s: the time in the queue is not read", name)
		}
		got := capturedPage{
			input: counters[scrape.InputTokensTotal], output: counters[scrape.OutputTokensTotal],
			cached:   counters[scrape.CachedTokensTotal],
			requests: counters[scrape.RequestsTotal], steps: counters[scrape.StepsTotal],
			drafts:  counters[scrape.DraftsTotal],
			drafted: counters[scrape.DraftTokensTotal], accepted: counters[scrape.AcceptedTotal],
			running:      gauges[scrape.Running],
			idleCounters: len(gauges) == 0,
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(capturedPage{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if counters[scrape.PrefixQueries] != want.input || counters[scrape.PrefixHits] != want.cached {
			t.Errorf("%s: prefix cache asked for %v and had %v tokens, want %v and %v", name,
				counters[scrape.PrefixQueries],
				counters[scrape.PrefixHits], want.input, want.cached)
		}
	}

	counters, _ := kind.Translate(unpacked(t, metricsCaptures+"ngram.txt.gz"))
	at := 0.0
	for i := range 3 {
		at += counters[scrape.AcceptedAt(i)]
	}
	if at != counters[scrape.AcceptedTotal] {
		t.Errorf("%v tokens are accepted by position, %v in all", at, counters[scrape.AcceptedTotal])
	}
}

func unpacked(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if _, err := io.Copy(&text, reader); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
