package serverlog

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/results"
)

// A server that floods its log costs neither memory nor time without bound,
// and its last words are still seen.
func TestLogFlood(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "server.log")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	log, err := Open(path, vllmKind(t).Log, vllmKind(t).Args.Slots, "")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	block := []byte(strings.Repeat("(EngineCore_DP0 pid=1) DEBUG 01-01 00:00:00 [x.py:1] something of no "+
		"importance, again and again\n", 1000))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const size = 512 << 20
	for written := 0; written < size; written += len(block) {
		if _, err := file.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := file.WriteString("torch.OutOfMemoryError: CUDA out of memory\n"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	log.ReadLast()
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	if match := log.FatalLine(); match == nil || match.kind.Class != results.FailOutOfMemory {
		t.Errorf("fatal line after the flood = %+v, want the last one", match)
	}
	if log.skipped < size-maxBehind || took > 2*time.Minute {
		t.Errorf("%d bytes skipped in %v, want at least %d soon", log.skipped, took, size-maxBehind)
	}
	if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > 64<<20 {
		t.Errorf("%d bytes held after the flood", held)
	}
	if tail := log.Excerpt(); len(tail) > tailLines+traceHead+traceTail+fatalLines+3 {
		t.Errorf("excerpt() has %d lines", len(tail))
	}
}

func TestLogSkipsWhatIsFarBehind(t *testing.T) {
	t.Parallel()
	log, write := follow(t, vllmKind(t), "")
	write(strings.Repeat("x\n", maxBehind))
	tail := strings.Join(log.Excerpt(), "\n")
	if log.skipped != 2*maxBehind-readOnce {
		t.Errorf("%d bytes skipped, want all but the last %d", log.skipped, readOnce)
	}
	if lines := log.lines; lines > readOnce/2+1 {
		t.Errorf("%d lines read (%q), want at most %d", lines, tail, readOnce/2+1)
	}
	if log.Read() {
		t.Error("read() at the end = true, want false")
	}
}

// A log that was cut from outside is read from its new beginning.
func TestLogThatWasCut(t *testing.T) {
	t.Parallel()
	log, write := follow(t, vllmKind(t), "")
	write("a long line before the cut, with an unended rest")
	if err := os.Truncate(log.file.Name(), 0); err != nil {
		t.Fatal(err)
	}
	write("short\n")
	if last := log.LastLine(); last != "short" {
		t.Errorf("lastLine() = %q, want %q", last, "short")
	}
}

func BenchmarkLogFeed(b *testing.B) {
	kind, _ := engines.Lookup("vllm")
	block := []byte(strings.Repeat("(EngineCore_DP0 pid=1) INFO 01-01 00:00:00 [loggers.py:1] Engine 000: Avg "+
		"prompt throughput: 1.0 tokens/s, Running: 8 reqs\n", 100))
	b.SetBytes(int64(len(block)))
	l := &Log{known: kind.Log, found: true, serving: true}
	for b.Loop() {
		l.feed(block)
	}
}

// The quick look never hides a line that matches.
func TestLineMatchersFindSamples(t *testing.T) {
	t.Parallel()
	for _, kind := range engines.All() {
		m := newMatchers(kind.Log)
		for i, line := range m.fatal {
			if line.needles == nil {
				t.Errorf("%s: every line is tried for %q: give each alternative a longer text", kind.Name,
					kind.Log.Fatal[i].Pattern)
			}
		}
		for i, line := range m.milestones {
			if line.needles == nil {
				t.Errorf("%s: every line is tried for %q: give each alternative a longer text", kind.Name,
					kind.Log.Milestones[i].Pattern)
			}
		}
	}
}

func FuzzLineMatcher(f *testing.F) {
	f.Add("torch.OutOfMemoryError: CUDA out of memory")
	f.Add("[ERRNO 98] x Address Already In Use")
	f.Add("build: 1 (2)")
	f.Add(readCapture(f, "startup/vllm-v1.log"))
	all := make(map[string]*matchers)
	for _, kind := range engines.All() {
		all[kind.Name] = newMatchers(kind.Log)
	}
	f.Fuzz(func(t *testing.T, line string) {
		lower := strings.ToLower(line)
		for name, m := range all {
			for _, matcher := range slices.Concat(m.fatal, m.milestones) {
				if matcher.pattern.MatchString(line) && !matcher.may(lower) {
					t.Errorf("%s: %q matches %q, and the quick look says that it cannot", name, line, matcher.pattern)
				}
			}
		}
	})
}
