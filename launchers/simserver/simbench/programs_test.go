package simbench

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/benchrig/bench/internal/programs"
	"github.com/benchrig/bench/results"
)

// What the played programs print and write is read as that of the real ones, and
// follows the arguments: twice the sequences, no more than twice the tokens a
// second; a warm start is faster than a cold one.
func TestPrograms(t *testing.T) {
	t.Parallel()
	measure := func(method string, args ...string) map[string]float64 {
		t.Helper()
		file := filepath.Join(t.TempDir(), "output.json")
		args = append(args, "--model", "Llama-3.1-8B", "--sim-speed", "1e6", "--sim-life-noise", "0",
			"--output-json", file)
		var out bytes.Buffer
		if err := Run(t.Context(), method, args, os.LookupEnv, &out); err != nil {
			t.Fatal(err)
		}
		written, _ := os.ReadFile(file) // llama-batched-bench writes none
		run := programs.ReadRun(programs.Program(method), out.Bytes(), written)
		if len(run.Notes) > 0 {
			t.Errorf("%s: notes %q", method, run.Notes)
		}
		values := map[string]float64{}
		for _, m := range run.Measures {
			values[m.Name] = *m.Value
		}
		return values
	}

	batches := measure(results.MethodBatchedBench, "-npp", "64", "-ntg", "8,4096", "-npl", "1,2", "-c", "512")
	one, two := batches["pp64_tg8_b1_decode_tokens_per_s"], batches["pp64_tg8_b2_decode_tokens_per_s"]
	if len(batches) != 10 || one <= 0 || two <= one || two > 2.1*one {
		t.Errorf("batches of 1 and 2: %g and %g tok/s; all: %v", one, two, batches)
	}

	slow := measure(results.MethodVllmThroughput, "--num-prompts", "32", "--max-num-seqs", "4")
	fast := measure(results.MethodVllmThroughput, "--num-prompts", "32", "--max-num-seqs", "16")
	if len(slow) != 4 || fast["tokens_per_s"] < 2*slow["tokens_per_s"] {
		t.Errorf("throughput of 4 and 16 sequences at once: %v and %v", slow, fast)
	}

	if latency := measure(results.MethodVllmLatency, "--num-iters", "5"); latency["batch_latency_s"] <= 0 ||
		latency["p90_batch_latency_s"] < latency["p50_batch_latency_s"] {
		t.Errorf("latency %v", latency)
	}
	if starts := measure(results.MethodVllmStartup); starts["warm_startup_s"] >= 0.7*starts["cold_startup_s"] {
		t.Errorf("starts %v", starts)
	}

	for _, args := range [][]string{{"--model", "m", "--input-len", "0"}, {"--model", "m", "--sim-speed", "x"}, {}} {
		err := Run(t.Context(), results.MethodVllmLatency, args, os.LookupEnv, io.Discard)
		if _, ok := errors.AsType[ArgumentError](err); !ok {
			t.Errorf("%q: error %v, want one of the arguments", args, err)
		}
	}
}
