package launchers

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/freeport"
	"github.com/benchrig/bench/internal/tinygguf"
	"github.com/benchrig/bench/launchers/endpoint"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/launchers/scrape"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
)

// realLlama prepares a launch of the llama-server that BENCH_LLAMA_SERVER
// names, with a model of its own.
func realLlama(t *testing.T, args ...recipe.Arg) *bench {
	t.Helper()
	program := os.Getenv("BENCH_LLAMA_SERVER")
	if program == "" {
		t.Skip("BENCH_LLAMA_SERVER is not set: it names the llama-server to launch")
	}
	model := filepath.Join(t.TempDir(), "tiny.gguf")
	file, err := os.Create(model)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := tinygguf.Write(file, tinygguf.Options{}); err != nil {
		t.Fatal(err)
	}
	kind, _ := engines.Lookup("llamacpp")
	story := &journal{}
	spec := recipe.Spec{
		Launcher: kind.Name, Model: model, Binary: []string{program}, Env: map[string]string{}, Host: "127.0.0.1",
		Port:    freeport.Take(t, 1),
		LogPath: filepath.Join(t.TempDir(), "server.log"), Ready: recipe.Ready{Timeout: time.Minute}, Life: "life-1",
		Cookie: "real" + t.Name(),
		Args: append([]recipe.Arg{
			{Name: "ctx-size", Value: json.Number("1024")},
			{Name: "parallel", Value: json.Number("2")},
			{Name: "threads", Value: json.Number("1")},
		}, args...),
	}
	b := &bench{
		Launcher: &Launcher{Journal: story.write, Environ: os.Environ()}, journal: story,
		kind: kind, spec: spec,
	}
	t.Cleanup(func() { b.nothingLeft(t) })
	return b
}

func TestRealLlamaServer(t *testing.T) {
	t.Parallel()
	b := realLlama(t)
	b.spec.Drain = 10 * time.Second
	server := b.launch(t)
	info := server.Info()
	startup := info.Startup
	if startup == nil {
		t.Fatal("Info().Startup = nil, want what the log and /props tell")
	}
	if startup.Slots == nil || *startup.Slots != 2 || startup.ContextLen == nil || *startup.ContextLen != 512 ||
		startup.ModelBytes == nil || *startup.ModelBytes < 1<<20 {
		t.Errorf("startup = %+v, want 2 slots of 512 tokens and the model's bytes", startup)
	}
	if len(startup.Phases) != 1 || startup.Phases[0].Name != "weights" || startup.Phases[0].Seconds <= 0 ||
		startup.Phases[0].Seconds > 60 {
		t.Errorf("phases = %+v, want the time of the weights", startup.Phases)
	}
	if startup.Arguments["model_path"] != b.spec.Model || info.Version == "" {
		t.Errorf("version %q, arguments %v, want the build and the model's path", info.Version, startup.Arguments)
	}
	before, err := server.Metrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	request(server)
	after, err := server.Metrics(t.Context())
	if err != nil || after[scrape.OutputTokensTotal] <= before[scrape.OutputTokensTotal] ||
		after[scrape.Running] != 0 || scrape.CountersWentBack(before, after) != nil {
		t.Errorf("metrics %v, then %v, %v, want more tokens and nothing running", before, after, err)
	}
	if slots, err := server.Slots(t.Context()); err != nil || len(slots) != 2 {
		t.Errorf("slots() = %v, %v, want 2", slots, err)
	}
	if how, err := server.ResetCache(t.Context()); !errors.Is(err, errors.ErrUnsupported) ||
		!strings.Contains(err.Error(), "slot-save-path") {
		t.Errorf("ResetCache() = %q, %v, want what the server must be started with", how, err)
	}
	if proof, err := server.Stop(t.Context()); err != nil || !proof.Clean() {
		t.Errorf("Stop() = %+v, %v, want a clean proof", proof, err)
	}
}

func TestRealLlamaServerErasesSlots(t *testing.T) {
	t.Parallel()
	b := realLlama(t, recipe.Arg{Name: "slot-save-path", Value: t.TempDir() + "/"})
	server := b.launch(t)
	if how, err := server.ResetCache(t.Context()); err != nil || how == "" {
		t.Errorf("ResetCache() = %q, %v, want it done", how, err)
	}
}

// A request whose client stays keeps the server busy: the stop waits for it.
func TestRealLlamaServerDrains(t *testing.T) {
	t.Parallel()
	b := realLlama(t)
	b.spec.Drain = 30 * time.Second
	server := b.launch(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan endpoint.Answer, 1)
	go func() {
		done <- server.Ask(ctx, "POST", endpoint.CompletionsPath, map[string]any{
			"prompt": "a", "max_tokens": 400,
			"ignore_eos": true,
		}, time.Minute)
	}()
	for range 200 {
		if n, _ := server.Outstanding(t.Context()); n > 0 || len(done) > 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if proof, err := server.Stop(t.Context()); err != nil || !proof.Clean() {
		t.Errorf("Stop() = %+v, %v, want a clean proof", proof, err)
	}
	if a := <-done; !a.OK() {
		t.Errorf("the request ended with %v, want its answer: the stop waits for it", a)
	}
	if message := b.journal.last(results.LifeStopping).Message; message != "" {
		t.Errorf("journal says %q, want nothing: all requests ended", message)
	}
}

// Counters, answers and log of one server agree about its drafts.
func TestRealLlamaServerSpeculates(t *testing.T) {
	t.Parallel()
	draft := filepath.Join(t.TempDir(), "draft.gguf")
	file, err := os.Create(draft)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := tinygguf.Write(file, tinygguf.Options{Layers: 1}); err != nil {
		t.Fatal(err)
	}
	b := realLlama(t, recipe.Arg{Name: "model-draft", Value: draft}, recipe.Arg{
		Name:  "draft-max",
		Value: json.Number("4"),
	})
	server := b.launch(t)
	before, err := server.Counters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var tokens, accepted int
	prompts := make([]load.Prompt, 6)
	for i := range prompts {
		prompts[i] = load.Prompt{TokenIDs: []int{300 + i, 400 + i, 500, 600}, InputTokens: 4, OutputTokens: 40}
	}
	opts := load.Options{
		Target: load.Target{
			BaseURLs: []string{server.BaseURL()}, API: "completions", Path: endpoint.CompletionsPath,
			Model: server.Model(),
		},
		Settings: spec.Settings{
			Body: map[string]any{"cache_prompt": false}, MaxConcurrency: 2, IgnoreEOS: true,
			Sampling: spec.Sampling{Temperature: new(0.)},
		},
	}
	_, err = load.Run(t.Context(), opts, prompts, func(rec results.Record) error {
		if rec.Failure != nil || rec.DraftTokens == nil || rec.AcceptedTokens == nil {
			t.Errorf("record %d: %v, drafted %v, accepted %v, want the server's own counts", rec.Index, rec.Failure,
				rec.DraftTokens, rec.AcceptedTokens)
			return errors.New("an answer without counts")
		}
		tokens, accepted = tokens+*rec.DraftTokens, accepted+*rec.AcceptedTokens
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	after := map[string]float64{}
	for range 50 { // its log is written by a thread of its own
		if after, err = server.Counters(t.Context()); err != nil {
			t.Fatal(err)
		}
		if after["log_draft_tokens_total"]-before["log_draft_tokens_total"] >= float64(tokens) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	change := map[string]float64{}
	for name, v := range after {
		change[name] = v - before[name]
	}
	counted, logged := results.DraftingBy(results.DraftsByCounters, change),
		results.DraftingBy(results.DraftsByLog, change)
	if counted == nil || logged == nil {
		t.Fatalf("drafting by counters %+v, by log %+v, want both; change %v", counted, logged, change)
	}
	if *counted.DraftTokens != float64(tokens) || *counted.AcceptedTokens != float64(accepted) {
		t.Errorf("counters say %v drafted and %v accepted, the answers %d and %d", *counted.DraftTokens,
			*counted.AcceptedTokens, tokens, accepted)
	}
	if *logged.DraftTokens != float64(tokens) || *logged.AcceptedTokens != float64(accepted) {
		t.Errorf("the log says %v drafted and %v accepted, the answers %d and %d", *logged.DraftTokens,
			*logged.AcceptedTokens, tokens, accepted)
	}
	counted.Derive()
	logged.Derive()
	if counted.Length == nil || *counted.Length < 1 || *counted.Length > 5 || logged.Length != nil &&
		math.Abs(*logged.Length-*counted.Length) > 0.1 {
		t.Errorf("tokens a step: %v by counters, %v by log, want the same, between 1 and 5", counted.Length,
			logged.Length)
	}
	for i := 1; i < len(counted.AtPosition); i++ {
		if counted.AtPosition[i] > counted.AtPosition[i-1] {
			t.Errorf("acceptance at positions %v rises", counted.AtPosition)
		}
	}
	told := server.Info().Speculation
	if told == nil || told.Tokens == nil || *told.Tokens != 4 || len(told.LogLines) != 1 ||
		!strings.Contains(told.LogLines[0], "draft acceptance") {
		t.Errorf("Info().Speculation = %+v, want k 4 and the last line of the log", told)
	}
}
