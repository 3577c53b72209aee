package serverlog

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/results"
)

// follow opens a log for the kind's fatal lines and gives a function that
// writes to it and reads it back.
func follow(t *testing.T, kind engines.Kind, wanted string) (*Log, func(string)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "server.log")
	if err := os.WriteFile(path, []byte("torch.OutOfMemoryError of an earlier server\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	log, err := Open(path, kind.Log, kind.Args.Slots, wanted)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(log.Close)
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return log, func(text string) {
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if !log.Read() {
			t.Errorf("read() after writing %q = false, want true", text)
		}
	}
}

func TestLogFindsFatalLine(t *testing.T) {
	t.Parallel()
	const oom = "torch.OutOfMemoryError: CUDA out of memory."
	for _, c := range []struct {
		name   string
		pieces []string
		want   string
		class  results.FailureClass
	}{
		{"none", []string{"INFO all is well\n"}, "", ""},
		{"one", []string{oom + "\n"}, oom, results.FailOutOfMemory},
		{
			"coloured",
			[]string{"\x1b[1;31mtorch.OutOf\x1b[0mMemoryError\x1b[K\n"},
			"torch.OutOfMemoryError",
			results.FailOutOfMemory,
		},
		{
			"in pieces",
			[]string{"torch.OutOf", "MemoryErr", "or\nnext\n"},
			"torch.OutOfMemoryError",
			results.FailOutOfMemory,
		},
		{"after a progress bar", []string{"loading 1%\rloading 2%\r" + oom + "\n"}, oom, results.FailOutOfMemory},
		{"first is kept", []string{oom + "\nGatedRepoError\n"}, oom, results.FailOutOfMemory},
		{
			"cause after the vague line",
			[]string{"EngineCore failed to start.\nTraceback\n", oom + "\n"},
			oom,
			results.FailOutOfMemory,
		},
		{
			"vague line alone",
			[]string{"EngineCore failed to start.\n"},
			"EngineCore failed to start.",
			results.FailEngineDied,
		},
		{"unended line is waited for", []string{oom}, "", ""},
	} {
		log, write := follow(t, vllmKind(t), "")
		for _, piece := range c.pieces {
			write(piece)
		}
		match := log.FatalLine()
		if match == nil {
			match = &FatalMatch{}
		}
		if match.line != c.want || match.kind.Class != c.class {
			t.Errorf("%s: fatal line = %q (%s), want %q (%s)", c.name, match.line, match.kind.Class, c.want, c.class)
		}
	}
}

// What srun says of an end is no line of the server, unless there is no other.
func TestLogLastLineIsTheServers(t *testing.T) {
	t.Parallel()
	log, write := follow(t, engines.VllmKind(), "")
	write("srun: error: Unable to create step\n")
	if got := log.LastLine(); got != "srun: error: Unable to create step" {
		t.Errorf("LastLine() = %q, want srun's", got)
	}
	write("no such fabric\nsrun: error: n2: task 0: Exited with exit code 1\n")
	if got := log.LastLine(); got != "no such fabric" {
		t.Errorf("LastLine() = %q, want the server's", got)
	}
}

func TestLogLastLineCountsAtTheEnd(t *testing.T) {
	t.Parallel()
	log, write := follow(t, vllmKind(t), "")
	write("error: unrecognized arguments: --num-scheduler-steps 8")
	log.ReadLast()
	if match := log.FatalLine(); match == nil || match.kind.Class != results.FailBadFlag {
		t.Errorf("fatal line = %v, want class %s", match, results.FailBadFlag)
	}
}

// Old vLLM logs each request with its prompt, and ShareGPT holds many a
// question about an error message.
func TestLogIgnoresPromptsWhileServing(t *testing.T) {
	t.Parallel()
	log, write := follow(t, vllmKind(t), "")
	log.Serve()
	write("INFO Received request cmpl-1: prompt: 'why torch.OutOfMemoryError: CUDA out of memory?', params\n")
	if match := log.FatalLine(); match != nil {
		t.Errorf("fatal line = %q, want none", match.line)
	}
	write("torch.OutOfMemoryError: CUDA out of memory\n")
	if log.FatalLine() == nil {
		t.Error("a real fatal line is not seen while serving")
	}
}

func TestLogExcerpt(t *testing.T) {
	t.Parallel()
	numbered := func(from, to int) (lines []string) {
		for i := from; i <= to; i++ {
			lines = append(lines, fmt.Sprintf("line %d", i))
		}
		return lines
	}
	indented := func(from, to int) (lines []string) {
		for i := from; i <= to; i++ {
			lines = append(lines, fmt.Sprintf("  File %d", i))
		}
		return lines
	}
	trace := []string{"Traceback (most recent call last):", "ValueError: the cause"}
	for _, c := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"short", numbered(1, 3), numbered(1, 3)},
		{"only the end", numbered(1, 80), numbered(31, 80)},
		{"trouble within the end", slices.Concat(trace, numbered(1, 10)), slices.Concat(trace, numbered(1, 10))},
		{
			"trouble far above", slices.Concat(numbered(1, 5), trace, numbered(6, 100)),
			slices.Concat(trace, []string{"[...]"}, numbered(51, 100)),
		},
		{
			"a long traceback", slices.Concat(trace[:1], indented(1, 60), trace[1:], numbered(1, 100)),
			slices.Concat(trace[:1], indented(1, 5), []string{"[...]"}, indented(38, 60), trace[1:], []string{"[...]"},
				numbered(51, 100)),
		},
		{
			"a traceback and a fatal line", slices.Concat(trace, numbered(1, 5),
				[]string{"EngineCore failed to start."}, numbered(6, 100)),
			slices.Concat(trace, []string{"[...]", "EngineCore failed to start."}, numbered(6, 12), []string{"[...]"},
				numbered(51, 100)),
		},
		{
			"the second traceback is not the first", slices.Concat(trace, numbered(1, 5),
				[]string{trace[0], "KeyError: 'later'"}, numbered(6, 100)),
			slices.Concat(trace, []string{"[...]"}, numbered(51, 100)),
		},
		{"trouble that reaches the end", slices.Concat(trace, numbered(1, 48)), slices.Concat(trace, numbered(1, 48))},
	} {
		log, write := follow(t, vllmKind(t), "")
		write(strings.Join(c.lines, "\n") + "\n")
		if diff := cmp.Diff(c.want, log.Excerpt()); diff != "" {
			t.Errorf("%s: excerpt(): (-want +got)\n%s", c.name, diff)
		}
	}
}

func TestLogKeepsLastStateOfProgressBar(t *testing.T) {
	t.Parallel()
	log, write := follow(t, vllmKind(t), "")
	write("start\r\nloading 1%\rloading 50%\r")
	write("loading 100%\ndone\n" + strings.Repeat("x", 3*maxLine) + "\nafter\n")
	tail := log.Excerpt()
	want := []string{"start", "loading 100%", "done"}
	if diff := cmp.Diff(want, tail[:min(3, len(tail))]); diff != "" {
		t.Errorf("excerpt(): (-want +got)\n%s", diff)
	}
	if len(tail) != 5 || len(tail[3]) > maxShown+10 || tail[4] != "after" {
		t.Errorf("excerpt() has %d lines, want 5 with the long one cut", len(tail))
	}
}

func TestLogWaitsForText(t *testing.T) {
	t.Parallel()
	log, write := follow(t, vllmKind(t), "fired up")
	write("The server is fi")
	if log.WantedSeen() {
		t.Error("wantedSeen() = true before the text is there")
	}
	write("red up and ready to roll!\n")
	if !log.WantedSeen() {
		t.Error("wantedSeen() = false after the text was written")
	}
}

func FuzzLogFeed(f *testing.F) {
	f.Add("a\nb\r\nc", 2)
	f.Add("\x1b[31mred\x1b[0m\n\xff\r\r\n", 1)
	f.Fuzz(func(t *testing.T, text string, piece int) {
		whole, cut := &Log{}, &Log{}
		whole.feed([]byte(text))
		piece = max(1, piece%64)
		for rest := text; rest != ""; {
			n := min(piece, len(rest))
			cut.feed([]byte(rest[:n]))
			rest = rest[n:]
		}
		if diff := cmp.Diff(whole.Excerpt(), cut.Excerpt()); diff != "" {
			t.Errorf("feed(%q) in pieces of %d: (-whole +pieces)\n%s", text, piece, diff)
		}
		if len(whole.tail) > tailLines {
			t.Errorf("feed(%q) keeps %d lines, want at most %d", text, len(whole.tail), tailLines)
		}
	})
}

// Lines as builds of llama-bench write them when they cannot continue.
func TestLlamaBenchFatalLines(t *testing.T) {
	tests := []struct {
		lines string
		want  results.FailureClass
	}{
		{"error: invalid parameter for argument: -mmp\nusage: llama-bench [options]", results.FailBadFlag},
		{"error: invalid range format\nerror: invalid parameter for argument: -p", results.FailBadFlag},
		{"gguf_init_from_file: failed to open GGUF file 'nope.gguf' (No such file or directory)\n" +
			"llama_bench: error: failed to load model 'nope.gguf'", results.FailModel},
		{"llama_model_load: error loading model: tensor 'token_embd.weight' data is not within the file bounds, " +
			"model is corrupted or incomplete", results.FailModel},
		{"main: error: failed to load model '/m/a.gguf'", results.FailModel},
		{"llama_model_load: error loading model: unable to allocate ROCm0 buffer", results.FailOutOfMemory},
		{
			"llama_init_from_model: failed to initialize the context: failed to allocate buffer for kv cache",
			results.FailOutOfMemory,
		},
		{"main: error: failed to create context with model '/m/a.gguf'", results.FailOutOfMemory},
		{"main: error: unable to load model", results.FailModel},
		{"main: error: failed to create the llama_context", results.FailOutOfMemory},
		{"ROCm error: out of memory", results.FailOutOfMemory},
		{"ROCm error: unspecified launch failure", results.FailGPU},
	}
	program, _ := engines.MeasuringProgram(results.MethodLlamaBench)
	for _, tt := range tests {
		log := &Log{known: program.Kind([]string{"m"}).Log}
		for line := range strings.Lines(tt.lines) {
			log.take(strings.TrimSpace(line), false)
		}
		if match := log.FatalLine(); match == nil || match.kind.Class != tt.want {
			t.Errorf("%q is taken for %v, want %s", tt.lines, match, tt.want)
		}
	}
}

func vllmKind(t *testing.T) engines.Kind {
	t.Helper()
	kind, ok := engines.Lookup("vllm")
	if !ok {
		t.Fatal("no kind vllm")
	}
	return kind
}

// A line is cut after its secrets are hidden.
func TestSecretAtTheCutOfALine(t *testing.T) {
	const key = "sk-at-the-cut-0123456789"
	secrets.Remember(key)
	l := &Log{known: vllmKind(t).Log}
	l.feed([]byte(strings.Repeat("x", maxShown-15) + key + " and more\n"))
	if got := l.tail[0].text; strings.Contains(got, "sk-at") || !strings.HasSuffix(got, "x*** and more ...") {
		t.Errorf("the line ends with %q", got[len(got)-40:])
	}
}

// A line that a server logs for each request is tried on no expression for failures:
// of such lines there are thousands a second.
func TestLinesOfRequestsAreCheap(t *testing.T) {
	t.Parallel()
	line := strings.ToLower(`(APIServer pid=18267) INFO:     127.0.0.1:52146 - "POST /v1/completions HTTP/1.1" 200 OK`)
	for _, name := range []string{"vllm", "sglang", "tgi"} {
		kind, _ := engines.Lookup(name)
		for _, m := range newMatchers(kind.Log).fatal {
			if m.may(line) {
				t.Errorf("%s: %s is tried on it, for one of %q", name, m.pattern, m.needles)
			}
		}
	}
}
