package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/internal/loadtest"
	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
)

// talker answers each request after a second with the words "re: " and the
// last line that it was asked, and notes what it was asked. It refuses what
// fails names.
type talker struct {
	mu    sync.Mutex
	asked []string
	fails string
}

func (s *talker) answer(w io.Writer, r *http.Request, _ int) bool {
	var body struct {
		Prompt   string
		Messages []struct{ Role, Content string }
	}
	raw, _ := io.ReadAll(r.Body)
	if json.Unmarshal(raw, &body) != nil {
		return false
	}
	asked := body.Prompt
	for _, m := range body.Messages {
		asked += fmt.Sprintf("[%s]%s", m.Role, m.Content)
	}
	s.mu.Lock()
	s.asked = append(s.asked, asked)
	s.mu.Unlock()
	if s.fails != "" && len(asked) >= len(s.fails) && asked[len(asked)-len(s.fails):] == s.fails {
		return script{{time.Second, "HTTP/1.1 500 no\r\nContent-Length: 0\r\n\r\n"}}.play(w)
	}
	chunk := `{"choices":[{"text":" re","delta":{"reasoning_content":"hm","content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`
	if body.Messages != nil {
		chunk = `{"choices":[{"delta":{"reasoning_content":"hm","content":" re"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`
	}
	return script{{time.Second, streamHeader + loadtest.Event(chunk) + loadtest.Event("[DONE]") +
		loadtest.EndFrame}}.play(w)
}

// talk drives prompts against s in fake time, by the API of o.
func talk(ctx context.Context, t *testing.T, s *talker, o Options, prompts []dialect.Prompt) ([]results.Record,
	results.ClientReport,
) {
	t.Helper()
	server := &pipeServer{answer: s.answer, keepBody: true}
	o.Target.BaseURLs, o.Target.Path, o.Target.Model = []string{"http://one"}, "/v1", "m"
	if o.Target.API == "" {
		o.Target.API = "completions"
	}
	var records []results.Record
	report, err := run(ctx, o, prompts, func(r results.Record) error {
		records = append(records, r)
		return nil
	}, server.dial)
	if err != nil {
		t.Fatal(err)
	}
	server.wg.Wait()
	return byIndex(records), report
}

// spoken is what a test looks at of a record.
type spoken struct {
	Index, Conversation, Turn int
	Intended, Sent, End       float64
	OK                        bool
}

func spokenOf(records []results.Record) []spoken {
	var all []spoken
	for _, r := range records {
		all = append(all, spoken{r.Index, r.Conversation, r.Turn, r.IntendedS, *r.SentS, r.EndS, r.Failure == nil})
	}
	return all
}

func TestConversations(t *testing.T) {
	long := dialect.Prompt{Text: "a", InputTokens: 3, Turns: []dialect.Turn{
		{Text: "b", OutputTokens: 5},
		{Text: "c", OutputTokens: 6},
	}}
	single := dialect.Prompt{Text: "x"}
	pair := dialect.Prompt{Text: "p", Turns: []dialect.Turn{{Text: "q", OutputTokens: 0}}}
	// a starts two agents, x with a prompt of its own and b, which continues from a; y follows x; c waits for b and y.
	agents := dialect.Prompt{Text: "a", Turns: []dialect.Turn{
		{Text: "x", Whole: true, After: []int{0}, WaitS: new(0.5), InputTokens: 7},
		{Text: "b", After: []int{0}},
		{Text: "y", After: []int{1}, WaitS: new(1.0)},
		{Text: "c", After: []int{2, 3}},
	}}
	tests := []struct {
		name    string
		o       Options
		fails   string
		prompts []dialect.Prompt
		want    []spoken
		asked   []string // sorted
		peak    int
	}{
		{
			name: "turns follow at once", prompts: []dialect.Prompt{long, single}, peak: 2,
			want: []spoken{
				{0, 1, 1, 0, 0, 1, true},
				{1, 1, 2, 1, 1, 2, true},
				{2, 1, 3, 2, 2, 3, true},
				{3, 0, 0, 0, 0, 1, true},
			},
			asked: []string{"a", "a re\nb", "a re\nb re\nc", "x"},
		},
		{
			name: "by messages, without reasoning", o: Options{Target: Target{API: "chat"}},
			prompts: []dialect.Prompt{pair}, peak: 1,
			want:  []spoken{{0, 1, 1, 0, 0, 1, true}, {1, 1, 2, 1, 1, 2, true}},
			asked: []string{"[user]p", "[user]p[assistant] re[user]q"},
		},
		{
			name: "a conversation keeps its place", o: Options{Settings: spec.Settings{
				MaxConcurrency: 1,
				ThinkTime:      2 * time.Second,
			}}, prompts: []dialect.Prompt{pair, single}, peak: 1,
			want:  []spoken{{0, 1, 1, 0, 0, 1, true}, {1, 1, 2, 3, 3, 4, true}, {2, 0, 0, 0, 4, 5, true}},
			asked: []string{"p", "p re\nq", "x"},
		},
		{
			name: "thinking is not in flight", o: Options{
				Arrivals: []float64{0, 1.5},
				Settings: spec.Settings{ThinkTime: 3 * time.Second},
			}, prompts: []dialect.Prompt{pair, pair}, peak: 1,
			want: []spoken{
				{0, 1, 1, 0, 0, 1, true},
				{1, 1, 2, 4, 4, 5, true},
				{2, 2, 1, 1.5, 1.5, 2.5, true},
				{3, 2, 2, 5.5, 5.5, 6.5, true},
			},
			asked: []string{"p", "p", "p re\nq", "p re\nq"},
		},
		{
			name: "a failed turn ends its conversation", fails: "b", prompts: []dialect.Prompt{long, pair}, peak: 2,
			want: []spoken{
				{0, 1, 1, 0, 0, 1, true},
				{1, 1, 2, 1, 1, 2, false},
				{3, 2, 1, 0, 0, 1, true},
				{4, 2, 2, 1, 1, 2, true},
			},
			asked: []string{"a", "a re\nb", "p", "p re\nq"},
		},
		{
			name: "a graph", prompts: []dialect.Prompt{agents}, peak: 2,
			want: []spoken{
				{0, 1, 1, 0, 0, 1, true},
				{1, 1, 2, 1.5, 1.5, 2.5, true},
				{2, 1, 3, 1, 1, 2, true},
				{3, 1, 4, 3.5, 3.5, 4.5, true},
				{4, 1, 5, 4.5, 4.5, 5.5, true},
			},
			asked: []string{"a", "a re\nb", "a re\nb re\nc", "x", "x re\ny"},
		},
		{
			name: "agents that start together", o: Options{Arrivals: []float64{2}},
			prompts: []dialect.Prompt{{Text: "a", Turns: []dialect.Turn{
				{Text: "x", Whole: true, After: []int{}, WaitS: new(0.25)},
				{Text: "b", After: []int{0, 1}},
			}}}, peak: 2,
			want: []spoken{
				{0, 1, 1, 2, 2, 3, true},
				{1, 1, 2, 2.25, 2.25, 3.25, true},
				{2, 1, 3, 3.25, 3.25, 4.25, true},
			},
			asked: []string{"a", "a re\nb", "x"},
		},
		{
			name: "a graph keeps its place", o: Options{Settings: spec.Settings{MaxConcurrency: 1}},
			prompts: []dialect.Prompt{agents, single}, peak: 2,
			want: []spoken{
				{0, 1, 1, 0, 0, 1, true},
				{1, 1, 2, 1.5, 1.5, 2.5, true},
				{2, 1, 3, 1, 1, 2, true},
				{3, 1, 4, 3.5, 3.5, 4.5, true},
				{4, 1, 5, 4.5, 4.5, 5.5, true},
				{5, 0, 0, 0, 5.5, 6.5, true},
			},
			asked: []string{"a", "a re\nb", "a re\nb re\nc", "x", "x", "x re\ny"},
		},
		{
			name: "what waits for a failed request is not sent", fails: "x", prompts: []dialect.Prompt{agents}, peak: 2,
			want: []spoken{
				{0, 1, 1, 0, 0, 1, true},
				{1, 1, 2, 1.5, 1.5, 2.5, false},
				{2, 1, 3, 1, 1, 2, true},
			},
			asked: []string{"a", "a re\nb", "x"},
		},
		{
			name: "no turn after the duration", o: Options{Settings: spec.Settings{
				Duration:  2500 * time.Millisecond,
				ThinkTime: time.Second,
			}}, prompts: []dialect.Prompt{long}, peak: 1,
			want:  []spoken{{0, 1, 1, 0, 0, 1, true}, {1, 1, 2, 2, 2, 3, true}},
			asked: []string{"a", "a re\nb"},
		},
		{
			name: "conversations repeated", o: Options{Arrivals: []float64{0, 10, 20}, Repeat: true},
			prompts: []dialect.Prompt{pair, single}, peak: 1,
			want: []spoken{
				{0, 1, 1, 0, 0, 1, true},
				{1, 1, 2, 1, 1, 2, true},
				{2, 0, 0, 10, 10, 11, true},
				{3, 3, 1, 20, 20, 21, true},
				{4, 3, 2, 21, 21, 22, true},
			},
			asked: []string{"p", "p", "p re\nq", "p re\nq", "x"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &talker{fails: tt.fails}
				records, report := talk(t.Context(), t, s, tt.o, tt.prompts)
				if diff := gocmp.Diff(tt.want, spokenOf(records)); diff != "" {
					t.Errorf("records:\n%s", diff)
				}
				slices.Sort(s.asked)
				if diff := gocmp.Diff(tt.asked, s.asked); diff != "" {
					t.Errorf("asked:\n%s", diff)
				}
				if report.PeakInFlight != tt.peak || report.Interrupted != "" {
					t.Errorf("peak %d, interrupted %q, want %d and none", report.PeakInFlight,
						report.Interrupted, tt.peak)
				}
			})
		})
	}
}

// TestConversationLengths: each turn asks for its own length, and only the
// first turn's is known to the dataset.
func TestConversationLengths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := dialect.Prompt{
			Text: "a", InputTokens: 3, OutputTokens: 4,
			Turns: []dialect.Turn{{Text: "b", OutputTokens: 5}, {Text: "c", OutputTokens: 0}},
		}
		records, _ := talk(t.Context(), t, &talker{}, Options{Settings: spec.Settings{KeepText: true}},
			[]dialect.Prompt{p})
		var asked []int
		for _, r := range records {
			asked = append(asked, r.AskedOutputTokens)
		}
		if !gocmp.Equal(asked, []int{4, 5, 0}) || records[0].LocalInputTokens == nil ||
			records[1].LocalInputTokens != nil {
			t.Errorf("asked for %v, local lengths %v, %v", asked, records[0].LocalInputTokens,
				records[1].LocalInputTokens)
		}
		if records[2].RequestID != "bench-2" || records[0].Text != "hm re" {
			t.Errorf("request id %q, text %q", records[2].RequestID, records[0].Text)
		}
	})
}

// TestCanceledConversation: the turns that were not sent make the pass
// interrupted.
func TestCanceledConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(1500*time.Millisecond, func() { cancel(errors.New("server died")) })
		p := dialect.Prompt{Text: "a", Turns: []dialect.Turn{{Text: "b", OutputTokens: 0}}}
		records, report := talk(ctx, t, &talker{}, Options{Settings: spec.Settings{ThinkTime: time.Second}},
			[]dialect.Prompt{p})
		if len(records) != 1 || records[0].Failure != nil || report.Interrupted != "server died" {
			t.Errorf("%d records, interrupted %q, want 1 and server died", len(records), report.Interrupted)
		}
	})
}
