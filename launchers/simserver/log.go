package simserver

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// disclaimer is the first line of every log.
const disclaimer = "bench simulator: this is not an inference engine; figures are simulated"

// logger writes lines as the persona does. Its lines carry [simulator] where
// an engine would name its source file.
type logger struct {
	plain bool // llama-server's lines have no head

	mu sync.Mutex // guards w
	w  io.Writer
}

func (l *logger) info(format string, args ...any)  { l.line("INFO", format, args...) }
func (l *logger) warn(format string, args ...any)  { l.line("WARNING", format, args...) }
func (l *logger) error(format string, args ...any) { l.line("ERROR", format, args...) }

func (l *logger) line(level, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !l.plain {
		text = level + " " + time.Now().Format("01-02 15:04:05") + " [simulator] " + text
	}
	l.raw(text)
}

// raw writes a line without a head.
func (l *logger) raw(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = io.WriteString(l.w, text+"\n") // a log that cannot be written must not stop the server
}

// milestone is a log line that a loading engine writes, due after a share of
// the load time.
type milestone struct {
	at   float64
	text string
}

// engineLog writes the log of an engine: the lines of a start, and statistics.
type engineLog struct{ *server }

// milestones are the lines of a start, in the order that vLLM has. total is
// the whole load time.
func (s engineLog) milestones(total time.Duration) []milestone {
	if s.llamaCpp() {
		return []milestone{
			{0, fmt.Sprintf("srv    load_model: loading model '%s'", s.cfg.Model)},
			{1, fmt.Sprintf("srv          init: initializing slots, n_slots = %d", s.cfg.MaxNumSeqs)},
			{1, "main: model loaded"},
		}
	}

	seconds, compile := total.Seconds(), s.compileShare()
	whole := othersShare + compile
	due := func(share float64) float64 { return min(1, share/whole) }
	weights := s.cfg.Network.WeightBytes(s.cfg.Quantization) / simengine.Gib
	tokens := s.cfg.Blocks * s.cfg.BlockSize
	list := []milestone{
		{0, "vLLM API server version " + Version},
		{0, "non-default args: " + s.nonDefaultArgs()},
		{0, fmt.Sprintf("Simulating %s as %s on %d x %s", s.cfg.Model, s.cfg.Network.Name,
			s.cfg.TensorParallelSize*s.cfg.PipelineParallelSize, s.cfg.Hardware.Name)},
		{due(0.4), fmt.Sprintf("Loading weights took %.2f seconds", 0.4*seconds)},
		{due(0.4), fmt.Sprintf("Model loading took %.2f GiB and %.2f seconds", weights, 0.4*seconds)},
	}

	if !s.cfg.EnforceEager {
		list = append(list, milestone{
			due(0.4 + compile),
			fmt.Sprintf("torch.compile takes %.2f s in total", compile*seconds),
		})
	}

	list = append(list,
		milestone{due(0.5 + compile), fmt.Sprintf("Available KV cache memory: %.2f GiB",
			float64(tokens)*s.cfg.Network.KvBytes(s.cfg.KVCacheDtype)/simengine.Gib)},
		milestone{due(0.5 + compile), "GPU KV cache size: " + thousands(tokens) + " tokens"},
		milestone{due(0.5 + compile), fmt.Sprintf("Maximum concurrency for %s tokens per request: %.2fx",
			thousands(s.cfg.MaxModelLen), float64(tokens)/float64(s.cfg.MaxModelLen))})
	if !s.cfg.EnforceEager {
		list = append(list, milestone{1, fmt.Sprintf("Graph capturing finished in %.0f secs, took %.2f GiB",
			0.2*seconds, 0.5)})
	}

	return append(list,
		milestone{1, fmt.Sprintf("init engine (profile, create kv cache, warmup model) took %.2f seconds",
			(0.3+compile)*seconds)})
}

// Shares of the load time: that of compilation, the same where the code is found,
// and those of all other phases.
const (
	compileShare = 0.3
	cachedShare  = 0.03
	othersShare  = 0.7
)

// compileShare is the part of the load time that compilation takes.
func (s engineLog) compileShare() float64 {
	if s.cfg.CacheRoot != "" && !s.cfg.EnforceEager {
		if _, err := os.Stat(compiledCode(s.cfg.CacheRoot)); err == nil {
			return cachedShare
		}
	}
	return compileShare
}

// compiledCode stands for the code that an engine keeps between starts.
func compiledCode(root string) string { return filepath.Join(root, "torch_compile_cache", "simulated") }

// keepCompiled leaves the code for the next start; like an engine, it starts as
// well where that fails.
func (s engineLog) keepCompiled() {
	path := compiledCode(s.cfg.CacheRoot)
	if s.cfg.CacheRoot == "" || s.cfg.EnforceEager || s.llamaCpp() {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err == nil { //nolint:gosec // as engines do
		err = os.WriteFile(path, []byte("simulated code\n"), 0o644) //nolint:gosec // likewise
		if err != nil {
			s.log.warn("compile cache: %v", err)
		}
	}
}

// logReady writes the last lines of a start.
func (s engineLog) logReady(addr string) {
	if s.llamaCpp() {
		s.log.raw("srv  llama_server: listening on http://" + addr)
		s.log.raw("srv  update_slots: all slots are idle")
		return
	}
	s.log.info("Starting vLLM API server 0 on http://%s", addr)
	s.log.raw(fmt.Sprintf("INFO:     Started server process [%d]", os.Getpid()))
	s.log.raw("INFO:     Waiting for application startup.")
	s.log.raw("INFO:     Application startup complete.")
}

// nonDefaultArgs writes the settings that matter as a Python dictionary.
func (s engineLog) nonDefaultArgs() string {
	c := s.cfg
	args := []string{"'model': " + pythonString(c.Model)}
	add := func(name, value string, isDefault bool) {
		if !isDefault {
			args = append(args, "'"+name+"': "+value)
		}
	}

	add("host", pythonString(c.Host), false)
	add("port", fmt.Sprint(c.Port), false)
	add("max_model_len", fmt.Sprint(c.MaxModelLen), false)
	add("served_model_name", pythonString(c.ServedName()), c.ServedName() == c.Model)
	add("tensor_parallel_size", fmt.Sprint(c.TensorParallelSize), c.TensorParallelSize == 1)
	add("pipeline_parallel_size", fmt.Sprint(c.PipelineParallelSize), c.PipelineParallelSize == 1)
	add("gpu_memory_utilization", fmt.Sprint(c.GPUMemoryUtilization),
		c.GPUMemoryUtilization == simengine.DefaultUtilization)
	add("max_num_seqs", fmt.Sprint(c.MaxNumSeqs), c.MaxNumSeqs == simengine.DefaultMaxNumSeqs)
	add("max_num_batched_tokens", fmt.Sprint(c.MaxNumBatchedTokens),
		c.MaxNumBatchedTokens == simengine.DefaultBatchedTokens)
	add("quantization", pythonString(c.Quantization), c.Quantization == "")
	add("enable_prefix_caching", "False", !c.DisablePrefixCaching)
	add("enforce_eager", "True", !c.EnforceEager)
	add("speculative_config", fmt.Sprintf("{'model': %s, 'num_speculative_tokens': %d}",
		pythonString(c.Speculation.Model), c.Speculation.Tokens), c.Speculation.Tokens == 0)
	return "{" + strings.Join(args, ", ") + "}"
}

func pythonString(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`).Replace(s) + "'"
}

func pythonBool(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// thousands writes 1234567 as 1,234,567.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// logStats writes the statistics lines of vLLM V1 until ctx ends. An interval
// without any work is not logged.
func (s engineLog) logStats(ctx context.Context) {
	if s.cfg.DisableLogStats || s.llamaCpp() {
		return
	}

	tick := time.NewTicker(s.cfg.StatsInterval)
	defer tick.Stop()

	before := s.engine.Gauges()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := s.engine.Gauges()
		if busy(before, now) {
			s.log.info("%s", statsLine(before, now, s.cfg.StatsInterval))
			if now.Drafts > before.Drafts {
				s.log.info("%s", s.specLine(before, now))
			}
		}
		before = now
	}
}

func busy(before, now simengine.Gauges) bool {
	return now.Running+now.Waiting > 0 || now.OutputTokens > before.OutputTokens
}

func statsLine(before, now simengine.Gauges, interval time.Duration) string {
	s := interval.Seconds()
	return fmt.Sprintf("Engine 000: Avg prompt throughput: %.1f tokens/s, Avg generation throughput: %.1f tokens/s, "+
		"Running: %d reqs, Waiting: %d reqs, GPU KV cache usage: %.1f%%, Prefix cache hit rate: %.1f%%",
		float64(now.PromptTokens-before.PromptTokens)/s, float64(now.OutputTokens-before.OutputTokens)/s,
		now.Running, now.Waiting, 100*now.KVUsage, 100*ratio(float64(now.PrefixHits), float64(now.PrefixQueries)))
}

func (s engineLog) specLine(before, now simengine.Gauges) string {
	if s.cfg.Speculation.BeforeV1 {
		return specTotals(now, s.cfg.Speculation.Tokens)
	}
	return specLine(before, now, s.cfg.StatsInterval)
}

// specTotals is the line of engines before V1: totals since the start. The
// efficiency is relative to an emission of all drafts and one more.
func specTotals(now simengine.Gauges, k int) string {
	most := float64(now.DraftTokens) / float64(k) * float64(k+1)
	return fmt.Sprintf("Speculative metrics: Draft acceptance rate: %.3f, System efficiency: %.3f, Number of "+
		"speculative tokens: %d, "+
		"Number of accepted tokens: %d, Number of draft tokens: %d, Number of emitted tokens: %d.",
		ratio(float64(now.Accepted), float64(now.DraftTokens)), ratio(float64(now.Emitted),
			most), k, now.Accepted, now.DraftTokens, now.Emitted)
}

func specLine(before, now simengine.Gauges, interval time.Duration) string {
	s := interval.Seconds()
	drafts := float64(now.Drafts - before.Drafts)
	accepted, drafted := now.Accepted-before.Accepted, now.DraftTokens-before.DraftTokens
	var rates []string
	for i := range now.AcceptedAt {
		rates = append(rates, fmt.Sprintf("%.3f", float64(now.AcceptedAt[i]-before.AcceptedAt[i])/drafts))
	}
	return fmt.Sprintf("SpecDecoding metrics: Mean acceptance length: %.2f, Accepted throughput: %.2f tokens/s, "+
		"Drafted throughput: %.2f tokens/s, Accepted: %d tokens, Drafted: %d tokens, "+
		"Per-position acceptance rate: %s, Avg Draft acceptance rate: %.1f%%",
		1+float64(accepted)/drafts, float64(accepted)/s, float64(drafted)/s, accepted, drafted,
		strings.Join(rates, ", "), 100*float64(accepted)/float64(drafted))
}
