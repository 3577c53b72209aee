package load

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/loadtest"
	"github.com/benchrig/bench/results"
)

// peerResult is what vLLM's newest client made of a case.
type peerResult struct {
	Success bool   `json:"success"`
	Text    string `json:"text"`
	Tokens  int    `json:"output_len"`
}

// step is one write of a recorded server: milliseconds of pause, then bytes
// (as code points); no bytes is a cut connection.
type step struct {
	bytes *string
}

func (s *step) UnmarshalJSON(b []byte) error {
	var pause float64
	return json.Unmarshal(b, &[]any{&pause, &s.bytes})
}

// TestStreamCases reads the odd streams as the SSE standard has it. differs
// marks those that vLLM's newest client reads otherwise.
func TestStreamCases(t *testing.T) {
	raw, err := os.ReadFile("testdata/sse/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases   map[string][]step
		Results map[string]map[string]peerResult
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		kinds   string
		tokens  int
		source  results.TokenCount
		class   results.FailureClass
		differs bool
	}{
		"completions/plain":                 {"tttu", 3, "usage", "", false},
		"completions/usage_late":            {"tttu", 3, "usage", "", false},
		"completions/no_usage":              {"ttt", 3, "chunks", "", false},
		"completions/usage_in_last_choice":  {"tt", 2, "usage", "", false},
		"completions/continuous_usage":      {"ttu", 3, "usage", "", false},
		"completions/empty_first":           {"ettu", 3, "usage", "", false},
		"completions/empty_last":            {"ttfu", 3, "usage", "", false},
		"completions/only_empty":            {"fu", 3, "usage", "no-tokens", true},
		"completions/zero_chunks":           {"u", 3, "usage", "no-tokens", false},
		"completions/zero_body":             {"", 0, "none", "truncated", false},
		"completions/four_in_one_read":      {"ttttu", 3, "usage", "", false},
		"completions/multi_token_chunk":     {"ttu", 6, "usage", "", false},
		"completions/ping":                  {"ttu", 3, "usage", "", true},
		"completions/no_space_after_data":   {"tt", 2, "chunks", "", true},
		"completions/crlf":                  {"ttu", 3, "usage", "", false},
		"completions/single_newline_sep":    {"o", 0, "chunks", "protocol", false},
		"completions/no_done":               {"ttu", 3, "usage", "", false},
		"completions/split_json":            {"ttu", 3, "usage", "", false},
		"completions/split_before_newlines": {"ttu", 3, "usage", "", false},
		"completions/split_utf8":            {"ttu", 3, "usage", "", false},
		"completions/error_event_midstream": {"tx", 1, "chunks", "in-band-error", true},
		"completions/garbage":               {"to", 1, "chunks", "protocol", true},
		"completions/cut_midstream":         {"tt", 2, "chunks", "transport", false},
		"chat/plain_role":                   {"rtttu", 3, "usage", "", false},
		"chat/role_early":                   {"rttfu", 3, "usage", "", false},
		"chat/no_role":                      {"tttu", 3, "usage", "", false},
		"chat/usage_late":                   {"tttu", 3, "usage", "", false},
		"chat/reasoning":                    {"rkktfu", 3, "usage", "", true},
		"chat/tool_call":                    {"rccfu", 3, "usage", "", false},
		"chat/zero_chunks":                  {"u", 3, "usage", "no-tokens", false},
	}
	if len(file.Cases) != len(tests) {
		t.Errorf("%d cases in the file, %d expected", len(file.Cases), len(tests))
	}
	for name, steps := range file.Cases {
		t.Run(name, func(t *testing.T) {
			want := tests[name]
			s := newRawServer(t, func(w io.Writer, _ *http.Request, _ int) bool { return writeSteps(w, steps) })
			o := options(s.url, strings.Split(name, "/")[0])
			o.Timeouts.Total = 10 * time.Second
			r := one(t, o)
			class, tokens := results.FailureClass(""), 0
			if r.Failure != nil {
				class = r.Failure.Class
			}
			if r.OutputTokens != nil {
				tokens = *r.OutputTokens
			}
			if r.ChunkKinds != want.kinds || tokens != want.tokens || r.OutputTokensSource != want.source ||
				class != want.class {
				t.Errorf("got kinds %q, %d tokens by %s, failure %v; want %q, %d by %s, %q", r.ChunkKinds, tokens,
					r.OutputTokensSource, r.Failure, want.kinds, want.tokens, want.source, want.class)
			}
			peer := file.Results["newest"][name]
			if differs := peer.Success != (r.Failure == nil) ||
				(peer.Success && peer.Text != r.Text); differs != want.differs {
				t.Errorf("the reference client says success %v, text %q, ours %v, %q: differing = %v, want %v",
					peer.Success, peer.Text, r.Failure, r.Text, differs, want.differs)
			}
		})
	}
}

// writeSteps sends each step as an HTTP chunk of its own.
func writeSteps(w io.Writer, steps []step) bool {
	parts := []string{streamHeader}
	cut := slices.ContainsFunc(steps, func(s step) bool { return s.bytes == nil })
	for _, s := range steps {
		if s.bytes != nil && *s.bytes != "" {
			var b []byte
			for _, c := range *s.bytes {
				b = append(b, byte(c))
			}
			parts = append(parts, loadtest.Frame(string(b)))
		}
	}
	if !cut {
		parts = append(parts, loadtest.EndFrame)
	}
	for _, part := range parts {
		if _, err := io.WriteString(w, part); err != nil {
			return false
		}
	}
	return !cut
}
