package vllm_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/vllm"
)

// savedRun is what vLLM's client saved of a real run.
type savedRun struct {
	Duration float64     `json:"duration"`
	Prompts  int         `json:"num_prompts"`
	Inputs   []int       `json:"input_lens"`
	Lengths  []int       `json:"output_lens"`
	TTFTS    []float64   `json:"ttfts"`
	ITLS     [][]float64 `json:"itls"`
	Starts   []float64   `json:"start_times"`
	Queues   []float64   `json:"queue_times"`
	Texts    []string    `json:"generated_texts"`
	Errors   []string    `json:"errors"`
}

// records are those that such a run would have left here.
func (s savedRun) records() []results.Record {
	var all []results.Record
	for i, ttft := range s.TTFTS {
		start, queue := 0.0, 0.0
		if s.Starts != nil {
			start, queue = s.Starts[i], s.Queues[i]
		}
		r := results.Record{
			Index: i, IntendedS: start - queue, SentS: &start, LocalInputTokens: &s.Inputs[i],
			TextTokens:         &s.Lengths[i],
			OutputTokensSource: results.CountChunks, Text: s.Texts[i],
		}
		if s.Errors[i] != "" {
			r.Failure = results.Failf(results.FailTransport, "%s", s.Errors[i])
			r.Text = ""
		} else {
			at := start + ttft
			r.ChunkS = []float64{at}
			for _, gap := range s.ITLS[i] {
				at += gap
				r.ChunkS = append(r.ChunkS, at)
			}
			r.ChunkKinds, r.DoneS, r.EndS = strings.Repeat("t", len(r.ChunkS)), &at, at
		}
		all = append(all, r)
	}
	return all
}

func (s savedRun) result(g results.Generation, records []results.Record) *results.Result {
	p := metrics.Params{DurationS: s.Duration, Asked: s.Prompts, Percentiles: []float64{50, 90, 99}, API: "completions"}
	figures := metrics.CompatReadings(records, p)[g].CompatFigures
	return &results.Result{
		StartedAt: "2026-11-27T22:51:25Z", Asked: results.Asked{
			API: "completions", NumPrompts: s.Prompts,
			MaxConcurrency: new(4),
		},
		Servers: []results.Server{{Model: "target-34m"}}, Compat: results.Compat{g: {CompatFigures: figures}},
	}
}

func TestJSONIsWhatTheClientSaved(t *testing.T) {
	for _, tt := range []struct {
		name  string
		g     results.Generation
		loose string // members that need what that client did not save: the time of [DONE], of the last chunk
	}{
		{"newest", results.VLLM, ""},
		{"v010", results.VLLM010, "tpot e2el"},
		{"v06", results.VLLM06, "tpot e2el"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want, err := os.ReadFile("../../metrics/testdata/vllm-run-" + tt.name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			var saved savedRun
			if err := json.Unmarshal(want, &saved); err != nil {
				t.Fatal(err)
			}
			records := saved.records()
			got, err := vllm.JSON(saved.result(tt.g, records), records, vllm.Options{
				Generation: tt.g,
				Detailed:   true, TokenizerID: new("ws:200"),
			})
			if err != nil {
				t.Fatal(err)
			}
			compareMembers(t, members(t, want), members(t, got), tt.loose)
			compareTypes(t, members(t, want), members(t, got))
		})
	}
}

type member struct {
	name  string
	value json.RawMessage
}

// members are those of an object, in order.
func members(t *testing.T, data []byte) []member {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	var all []member
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		m := member{name: name.(string)}
		if err := dec.Decode(&m.value); err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

func names(all []member) []string {
	var names []string
	for _, m := range all {
		names = append(names, m.name)
	}
	return names
}

func compareMembers(t *testing.T, want, got []member, loose string) {
	t.Helper()
	if diff := cmp.Diff(names(want), names(got)); diff != "" {
		t.Fatalf("names (-want +got):\n%s", diff)
	}
	for i := range want {
		name := want[i].name
		_, metric, _ := strings.Cut(strings.TrimSuffix(name, "_ms"), "_")
		if name == "date" || name == "errors" || metric != "" && strings.Contains(loose, metric) {
			continue // wall clock; our own words; not saved
		}
		var a, b any
		if json.Unmarshal(want[i].value, &a) != nil || json.Unmarshal(got[i].value, &b) != nil {
			t.Fatalf("%s is not JSON: %s", name, got[i].value)
		}
		close := cmp.Comparer(func(x, y float64) bool { return math.Abs(x-y) <= 1e-9*max(1, math.Abs(x)) })
		if diff := cmp.Diff(a, b, close); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// compareTypes distinguishes whole numbers from others, as JSON's readers in Python do.
func compareTypes(t *testing.T, want, got []member) {
	t.Helper()
	for i := range want {
		if a, b := pythonType(t, want[i].value), pythonType(t, got[i].value); a != b {
			t.Errorf("%s is %s, want %s", want[i].name, b, a)
		}
	}
}

// pythonType is what Python's json.load makes of a value; of a list, what
// it makes of its items.
func pythonType(t *testing.T, value json.RawMessage) string {
	t.Helper()
	switch text := string(value); {
	case text == "null":
		return "None"
	case text[0] == '"':
		return "str"
	case text[0] == '[':
		return "list of " + itemTypes(t, value)
	case text[0] == '{':
		return "dict"
	case text == "true", text == "false":
		return "bool"
	case strings.ContainsAny(text, ".eE"):
		return "float"
	}
	return "int"
}

// itemTypes are the types in a list, each once, in alphabetical order.
func itemTypes(t *testing.T, list json.RawMessage) string {
	t.Helper()
	var items []json.RawMessage
	if err := json.Unmarshal(list, &items); err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, item := range items {
		types = append(types, pythonType(t, item))
	}
	slices.Sort(types)
	return strings.Join(slices.Compact(types), " and ")
}

// What needs no rebuilt sums must be the same bytes as Python wrote.
func TestJSONIsSpelledAsPythonDoes(t *testing.T) {
	want, err := os.ReadFile("../../metrics/testdata/vllm-run-newest.json")
	if err != nil {
		t.Fatal(err)
	}
	var saved savedRun
	if err := json.Unmarshal(want, &saved); err != nil {
		t.Fatal(err)
	}
	records := saved.records()
	got, err := vllm.JSON(saved.result(results.VLLM, records), records, vllm.Options{
		Detailed:    true,
		TokenizerID: new("ws:200"),
	})
	if err != nil {
		t.Fatal(err)
	}
	exact := map[string]bool{
		"start_times": true, "generated_texts": true, "input_lens": true, "output_lens": true,
		"burstiness": true, "duration": true, "rtfx": true, "label": true, "max_output_tokens_per_s": true,
	}
	a, b := members(t, want), members(t, got)
	for i := range a {
		if exact[a[i].name] && !bytes.Equal(a[i].value, b[i].value) {
			t.Errorf("%s = %.300s, want %.300s", a[i].name, b[i].value, a[i].value)
		}
	}
	const head = `, "endpoint_type": "openai", "backend": "openai", "label": null, "model_id": "target-34m", "tokenizer_id": "ws:200", "num_prompts": 24, "request_rate": "inf", "burstiness": 1.0, "max_concurrency": 4, "duration": 1.0481077099993854, "completed": 23,`
	for who, text := range map[string][]byte{"theirs": want, "ours": got} {
		if !bytes.Contains(text, []byte(head)) {
			t.Errorf("%s does not begin as expected: %.400s", who, text)
		}
	}
}

func TestJSONWithoutDetails(t *testing.T) {
	records := []results.Record{{
		SentS: new(0.0), ChunkS: []float64{1, 2}, ChunkKinds: "tt", LocalInputTokens: new(3),
		TextTokens: new(2),
	}}
	p := metrics.Params{DurationS: 2, Percentiles: []float64{99}, API: "chat"}
	figures := metrics.CompatReadings(records, p)[results.VLLM].CompatFigures
	r := &results.Result{
		Asked:  results.Asked{API: "chat", NumPrompts: 1, RequestRate: new(2.0), Burstiness: new(0.5)},
		Compat: results.Compat{results.VLLM: {CompatFigures: figures}},
		Servers: []results.Server{{Counters: map[string]float64{
			"draft_tokens_total": 8, "accepted_tokens_total": 4,
			"drafts_total": 2, "accepted_tokens_total_at_0": 2, "accepted_tokens_total_at_1": 1,
		}}},
	}
	got, err := vllm.JSON(r, records, vllm.Options{
		Label: new("x"), Metadata: [][2]string{{"k", "ü"}},
		Metrics: []string{"ttft"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"date": null, "endpoint_type": "openai-chat", "backend": "openai-chat", "label": "x", "model_id": null, "tokenizer_id": null, "num_prompts": 1, ` +
		`"k": "\u00fc", "request_rate": 2.0, "burstiness": 0.5, "max_concurrency": null, "duration": 2.0, "completed": 1, "failed": 0, "total_input_tokens": 3, ` +
		`"total_output_tokens": 2, "request_throughput": 0.5, "request_goodput": null, "output_throughput": 1.0, "total_token_throughput": 2.5, ` +
		`"latencies": [2.0], "queue_times": [0.0], "max_output_tokens_per_s": 1.0, "max_concurrent_requests": 1, "rtfx": 0.0, ` +
		`"spec_decode_acceptance_rate": 50.0, "spec_decode_acceptance_length": 3.0, "spec_decode_num_drafts": 2, "spec_decode_draft_tokens": 8, ` +
		`"spec_decode_accepted_tokens": 4, "spec_decode_per_position_acceptance_rates": [1.0, 0.5], ` +
		`"mean_ttft_ms": 1000.0, "median_ttft_ms": 1000.0, "std_ttft_ms": 0.0, "p99_ttft_ms": 1000.0}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("VLLMJSONWith (-want +got):\n%s", diff)
	}
	records[0].TextTokens, records[0].OutputTokens = nil, new(7)
	p = metrics.Params{DurationS: 2, API: "chat"}
	figures = metrics.CompatReadings(records, p)[results.VLLM].CompatFigures
	r.Compat = results.Compat{results.VLLM: {CompatFigures: figures}}
	r.Figures = &results.Figures{
		TotalOutputTokens: new(int64(7)), OutputThroughput: new(3.5),
		TotalTokenThroughput: new(5.0),
	}
	if got, err = vllm.JSON(r, records, vllm.Options{Detailed: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"total_output_tokens": null,`, `"output_throughput": null,`, `"total_token_throughput": null,`,
		`"output_lens": [null],`,
		`"mean_tpot_ms": null,`, `"unknown": ["the lengths of some answers`,
	} {
		if figures.TotalOutputTokens != nil || !strings.Contains(string(got), want) {
			t.Errorf("VLLMJSON of an answer that nobody tokenized again = %s, want %s and no figure of ours", got, want)
		}
	}
	if _, err := vllm.JSON(&results.Result{}, nil, vllm.Options{}); err == nil {
		t.Error("VLLMJSON of a result without a reading = nil error, want one")
	}
}

// TestInBandErrorKeepsItsCause: the server's words of an error in a stream are
// in the detailed result, before a token came and after.
func TestInBandErrorKeepsItsCause(t *testing.T) {
	t.Parallel()
	for _, kinds := range []string{"x", "ttx"} {
		r := results.Record{
			SentS: new(0.0), ChunkS: make([]float64, len(kinds)), ChunkKinds: kinds,
			Failure: results.Failf(results.FailInBand, "the engine is out of memory"),
		}
		out, made := vllm.Read(&r, results.VLLM, "completions", true)
		if !made || out.Error != "the engine is out of memory" {
			t.Errorf("chunks %q: error %q, want the server's words", kinds, out.Error)
		}
	}
}
