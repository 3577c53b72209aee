package launchers

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/results"
)

const (
	vllmCaptures = "engines/testdata/vllm-0.22-cpu/"
	vllmVersion  = "0.22.1.dev0+g4ff865c38.cpu"
)

// failedStart is a captured log of a start that failed, with the exit code of
// vLLM, and what a failure must say.
type failedStart struct {
	code  int
	class results.FailureClass
	says  string
}

func failedStarts() map[string]failedStart {
	return map[string]failedStart{
		"fail-bad-choice":   {2, results.FailBadFlag, "argument --dtype: invalid choice: 'float33'"},
		"fail-bad-json":     {2, results.FailBadFlag, "argument --speculative-config/-sc: Value {model: x cannot"},
		"fail-unknown-flag": {2, results.FailBadFlag, "unrecognized arguments: --foo-bar 1"},
		"fail-empty-folder": {
			1, results.FailModel, "Invalid repository ID or local directory specified: '/models/empty'",
		},
		"fail-no-model": {1, results.FailDownload, "Cannot find an appropriate cached snapshot folder"},
		"fail-no-memory": {
			1, results.FailOutOfMemory,
			"less than desired CPU memory utilization (0.99, 19.52 GiB)",
		},
		"fail-kv-small":        {1, results.FailKVCache, "To serve at least one request with the model's max seq len"},
		"fail-kv-then-sigterm": {1, results.FailKVCache, "To serve at least one request with the model's max seq len"},
		"fail-port":            {1, results.FailPortInUse, "[Errno 98] Address already in use"},
		"fail-too-long":        {1, results.FailBadRecipe, "User-specified max_model_len (100000) is greater"},
		"fail-tp-too-many-heads": {
			1, results.FailBadRecipe,
			"Total number of attention heads (2) must be divisible by tensor parallel size (3)",
		},
		"fail-worker": {1, results.FailEngineDied, "has no attribute 'expand_kernel_impl'"},
	}
}

// goodStart is a captured log of a start that worked, and of what followed.
type goodStart struct {
	weights, init float64 // seconds
	kvTokens      int64
	concurrency   float64
	context       int64
	slots         int64
	dies          bool   // the engine ends while it serves
	says          string // of that end
}

func goodStarts() map[string]goodStart {
	big := func(weights, init float64) goodStart {
		return goodStart{weights: weights, init: init, kvTokens: 2097152, concurrency: 2048, context: 1024, slots: 64}
	}
	double := func(weights, init float64) goodStart { // two engines: the sums
		s := big(weights, init)
		s.kvTokens, s.concurrency = 2*s.kvTokens, 2*s.concurrency
		return s
	}
	with := func(s goodStart, slots int64) goodStart {
		s.slots = slots
		return s
	}
	dying := func(s goodStart, says string) goodStart {
		s.dies, s.says = true, says
		return s
	}

	preempting := goodStart{weights: 0.01, init: 1.04, kvTokens: 960, concurrency: 1.88, context: 512, slots: 16}
	long := goodStart{weights: 0.01, init: 1.35, kvTokens: 2097152, concurrency: 1024, context: 2048, slots: 9}
	return map[string]goodStart{
		"fail-other-name.log":                      with(big(0.09, 3.18), 4),
		"term-lost.log":                            big(0.01, 1.56),
		"start.log":                                big(0.02, 1.24),
		"start-asc2.log":                           big(0.01, 1.44),
		"start-dp2.log":                            double(0.01, 1.81),
		"whole/start-spawn.log.gz":                 big(0.02, 1.24),
		"whole/asc2.log.gz":                        big(0.01, 1.44),
		"whole/dp2.log.gz":                         double(0.01, 1.81),
		"whole/dp2asc1.log.gz":                     double(0.03, 2.54),
		"whole/preemption.log.gz":                  preempting,
		"whole/errors.log.gz":                      big(0.01, 1.51),
		"whole/lora-key.log.gz":                    big(0.01, 2.05),
		"whole/ngram.log.gz":                       big(0.01, 2.41),
		"whole/pooling.log.gz":                     big(0.03, 1.89),
		"whole/qwen3.log.gz":                       big(0.02, 1.65),
		"whole/open-stream-at-stop.log.gz":         long,
		"whole/sigterm-while-serving.log.gz":       big(0.01, 1.34),
		"whole/sigterm-during-engine-start.log.gz": with(big(0.02, 1.40), 4),
		"whole/enginecore-sigstop.log.gz":          dying(with(big(0.04, 2.02), 16), ""),
		"whole/enginecore-sigkill.log.gz":          dying(with(big(0.01, 1.97), 16), "EngineDeadError"),
		"whole/engine-dies-on-request.log.gz":      dying(big(0.01, 1.59), "EngineCore encountered a fatal error"),
	}
}

// TestCapturedLogs: a real process writes each captured log of vLLM 0.22. What
// the launcher makes of it is what vLLM meant: class, reason and exit code of a
// failure; version, phases and size of the KV cache of a start. Lines that it
// logs while it serves end nothing by themselves.
func TestCapturedLogs(t *testing.T) {
	t.Parallel()
	for name, want := range failedStarts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := prepare(t, vllm(t), fakeengine.Config{LogFile: vllmCaptures + name + ".log", ExitAtOnce: &want.code})
			b.ownEnd = patience
			failure := b.refuse(t, want.class)
			if !strings.Contains(failure.Message, want.says) || failure.ExitCode == nil ||
				*failure.ExitCode != want.code {
				t.Errorf("failure = %v with code %v, want %q with code %d", failure, failure.ExitCode,
					want.says, want.code)
			}
		})
	}
	for name, want := range goodStarts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			playGoodStart(t, name, want)
		})
	}
}

func playGoodStart(t *testing.T, name string, want goodStart) {
	t.Helper()
	engine := fakeengine.Config{LogFile: vllmCaptures + name, LogRest: 2, Paths: fakeengine.VLLM()}
	engine.Paths.Version = "" // the log says it
	if want.dies {
		engine.DieAt = 3
	}
	b := prepare(t, vllm(t), engine)
	server := b.launch(t)

	info := server.Info()
	got := info.Startup
	if got == nil || info.Version != vllmVersion {
		t.Fatalf("version %q, startup %+v, want version %s and what the log tells", info.Version, got, vllmVersion)
	}
	got.Arguments = nil
	startup := &results.Startup{
		Phases:   []results.StartupPhase{{Name: "weights", Seconds: want.weights}, {Name: "init", Seconds: want.init}},
		KVTokens: &want.kvTokens, MaxConcurrency: &want.concurrency, ContextLen: &want.context, Slots: &want.slots,
	}
	if diff := cmp.Diff(startup, got, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
		t.Errorf("startup (-want +got):\n%s", diff)
	}

	request(server) // the rest of the log follows
	if !want.dies {
		select {
		case <-server.Done():
			t.Errorf("Done() is closed: %v, want a server that is left alone", server.Failure())
		case <-time.After(2 * watchServe):
		}
		return
	}

	request(server)
	select {
	case <-server.Done():
	case <-time.After(patience):
		t.Fatal("Done() is open long after the server's end")
	}
	class := results.FailEngineDied
	if want.says == "" {
		class = results.FailExited
	}
	if failure := server.Failure(); failure.Class != class || !strings.Contains(failure.Message, want.says) {
		t.Errorf("failure = %v, want %s with %q", failure, class, want.says)
	}
}

// TestCapturedLogsAreAllPlayed: a new capture gets its line in the table.
func TestCapturedLogsAreAllPlayed(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"*.log", "whole/*.log.gz"} {
		files, err := filepath.Glob(vllmCaptures + pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d captures, %v", pattern, len(files), err)
		}
		for _, file := range files {
			name := strings.TrimPrefix(file, vllmCaptures)
			_, failed := failedStarts()[strings.TrimSuffix(name, ".log")]
			_, good := goodStarts()[name]
			if !failed && !good {
				t.Errorf("%s is not played", name)
			}
		}
	}
}
