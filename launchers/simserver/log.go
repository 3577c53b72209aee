package simserver

import (
	"fmt"
	"io"
	"os"
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

// milestones are the lines of a start, in the order that vLLM has. total is
// the whole load time.
func (s *server) milestones(total time.Duration) []milestone {
	if s.llamaCpp() {
		return []milestone{
			{0, fmt.Sprintf("srv    load_model: loading model '%s'", s.cfg.Model)},
			{1, fmt.Sprintf("srv          init: initializing slots, n_slots = %d", s.cfg.MaxNumSeqs)},
			{1, "main: model loaded"},
		}
	}

	seconds := total.Seconds()
	weights := s.cfg.Network.WeightBytes(s.cfg.Quantization) / simengine.Gib
	tokens := s.cfg.Blocks * s.cfg.BlockSize
	list := []milestone{
		{0, "vLLM API server version " + Version},
		{0, "non-default args: " + s.nonDefaultArgs()},
		{0, fmt.Sprintf("Simulating %s as %s on %d x %s", s.cfg.Model, s.cfg.Network.Name,
			s.cfg.TensorParallelSize*s.cfg.PipelineParallelSize, s.cfg.Hardware.Name)},
		{0.4, fmt.Sprintf("Loading weights took %.2f seconds", 0.4*seconds)},
		{0.4, fmt.Sprintf("Model loading took %.2f GiB and %.2f seconds", weights, 0.4*seconds)},
	}

	if !s.cfg.EnforceEager {
		list = append(list, milestone{0.7, fmt.Sprintf("torch.compile takes %.2f s in total", 0.3*seconds)})
	}

	list = append(list,
		milestone{0.8, fmt.Sprintf("Available KV cache memory: %.2f GiB",
			float64(tokens)*s.cfg.Network.KvBytes(s.cfg.KVCacheDtype)/simengine.Gib)},
		milestone{0.8, "GPU KV cache size: " + thousands(tokens) + " tokens"},
		milestone{0.8, fmt.Sprintf("Maximum concurrency for %s tokens per request: %.2fx",
			thousands(s.cfg.MaxModelLen), float64(tokens)/float64(s.cfg.MaxModelLen))})
	if !s.cfg.EnforceEager {
		list = append(list, milestone{1, fmt.Sprintf("Graph capturing finished in %.0f secs, took %.2f GiB",
			0.2*seconds, 0.5)})
	}

	return append(list,
		milestone{1, fmt.Sprintf("init engine (profile, create kv cache, warmup model) took %.2f seconds",
			0.6*seconds)})
}

// logReady writes the last lines of a start.
func (s *server) logReady(addr string) {
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
func (s *server) nonDefaultArgs() string {
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
