package load

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/internal/goldentest"
	"github.com/benchrig/bench/internal/loadtest"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
)

// TestCaptures replays recorded answers of real servers, split over packets in
// several ways, and compares what was understood with a golden file.
func TestCaptures(t *testing.T) {
	paths, err := filepath.Glob("testdata/captures/*.http")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	var all strings.Builder
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".http")
		t.Run(name, func(t *testing.T) {
			header, body := loadtest.Capture(t, path)
			want := ""
			for _, split := range loadtest.Splitters() {
				if len(body) > split.Most {
					continue
				}
				got := describeRecord(replay(t, header, body, split, nil))
				if want == "" {
					want = got
					fmt.Fprintf(&all, "%s\n%s", name, got)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: differs from all at once:\n%s", split.Name, diff)
				}
			}
		})
	}
	golden(t, "testdata/captures.golden", all.String())
}

func replay(t *testing.T, header string, body []byte, split loadtest.Splitter, edit func(o *Options)) results.Record {
	t.Helper()
	frame := [][]byte{body}
	if strings.Contains(header, "chunked") {
		if split.Frames {
			frame = split.Cut(body)
		}
		frame = [][]byte{loadtest.Chunked(frame)}
	}
	frame = split.Cut(frame[0])
	s := newRawServer(t, func(w io.Writer, _ *http.Request, _ int) bool {
		for _, part := range append([][]byte{[]byte(header)}, frame...) {
			if _, err := w.Write(part); err != nil {
				return false
			}
		}
		return !strings.Contains(header, "Connection: close") && strings.Contains(strings.ToLower(header),
			"content-length")
	})
	o := options(s.url, "completions")
	o.Timeouts = spec.Timeouts{Total: 20 * time.Second}
	if edit != nil {
		edit(&o)
	}
	return one(t, o)
}

// describeRecord is a record without its times.
func describeRecord(r results.Record) string {
	failure := "none"
	if r.Failure != nil {
		failure = fmt.Sprintf("%s %d: %s", r.Failure.Class, r.Failure.HTTPStatus, r.Failure.Message)
	}
	drafts := ""
	if r.DraftTokens != nil {
		drafts = fmt.Sprintf("  drafted %s accepted %s in %s drafts\n", figure(r.DraftTokens), figure(r.AcceptedTokens),
			figure(r.Drafts))
	}
	return fmt.Sprintf("  kinds %q\n  in %s out %s (%s) cached %s finish %q\n%s  text %.90q\n  failure %s\n",
		r.ChunkKinds, figure(r.InputTokens), figure(r.OutputTokens), r.OutputTokensSource, figure(r.CachedTokens),
		r.FinishReason, drafts, r.Text, failure)
}

func figure(n *int) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	goldentest.Compare(t, path, got, *update)
}
