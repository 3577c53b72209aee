package launchers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/fakecontainer"
	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/launchers/endpoint"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

// stage is one course that a server's start can take.
type stage struct {
	name   string
	engine func(engines.Kind) fakeengine.Config
	change func(*recipe.Spec)      // nil: nothing
	skip   func(engines.Kind) bool // nil: none
	once   bool                    // nothing that a kind declares is in play: vllm stands for all
	want   results.FailureClass    // "": it becomes ready
	says   string                  // part of the failure's message
	code   *int                    // exit code in the failure
}

func plain(c fakeengine.Config) func(engines.Kind) fakeengine.Config {
	return func(engines.Kind) fakeengine.Config { return c }
}

func noModels(kind engines.Kind) bool { return kind.API.ModelsPath == "" }
func noHealth(kind engines.Kind) bool { return kind.API.HealthPath == "" }

func shortTimeout(s *recipe.Spec) { s.Ready.Timeout = 10 * time.Second }

// fatalSample is a line that a kind takes for fatal, with its class.
func fatalSample(kind engines.Kind) (string, results.FailureClass) {
	for _, line := range []string{
		"torch.OutOfMemoryError: CUDA out of memory.",
		"llama_model_load: error loading model: unable to allocate CUDA0 buffer",
		"Error: listen tcp 127.0.0.1:1: bind: address already in use",
	} {
		for _, fatal := range kind.Log.Fatal {
			if fatal.Pattern.MatchString(line) {
				return line, fatal.Class
			}
		}
	}
	return "", ""
}

func stages() []stage {
	crowd := []fakeengine.Child{{}, {Group: true}, {Session: true}, {Daemon: true, Session: true}}
	return []stage{
		{name: "serves", engine: plain(fakeengine.Config{})},
		{name: "loads slowly", engine: plain(fakeengine.Config{Loading: 400 * time.Millisecond})},
		{name: "has children everywhere", once: true, engine: plain(fakeengine.Config{Children: crowd})},
		{
			name: "ignores TERM", once: true,
			engine: plain(fakeengine.Config{IgnoreTerm: true}),
			change: func(s *recipe.Spec) { s.StopGrace = 200 * time.Millisecond },
		},
		{
			name: "drains at the end", once: true,
			engine: plain(fakeengine.Config{Drain: 300 * time.Millisecond, TermCode: 1}),
		},
		{
			name: "exits with a message", once: true,
			engine: plain(fakeengine.Config{
				Lines:      []string{"cannot go on"},
				ExitAtOnce: new(3),
			}),
			want: results.FailExited, says: "cannot go on", code: new(3),
		},
		{
			name: "exits with code 0 after the engine's death", once: true,
			engine: plain(fakeengine.Config{
				Loading:   time.Minute,
				ExitAfter: 300 * time.Millisecond,
			}),
			want: results.FailExited, says: "code 0", code: new(0),
		},
		{
			name: "exits and leaves children", once: true,
			engine: plain(fakeengine.Config{ExitAtOnce: new(1), Children: crowd}),
			want:   results.FailExited, code: new(1),
		},
		{
			name: "serves another model", engine: plain(fakeengine.Config{Model: "another"}), skip: noModels,
			want: results.FailWrongModel, says: `"another"`,
		},
		{
			name: "is healthy without tokens", engine: plain(fakeengine.Config{NoTokens: true}), change: shortTimeout,
			want: results.FailReadyTimeout, says: "waiting for a token",
		},
		{
			name: "streams nothing", engine: plain(fakeengine.Config{Empty: true}), change: shortTimeout,
			skip: noHealth,
			want: results.FailReadyTimeout, says: "health 200",
		},
		{
			name: "logs and never listens", once: true,
			engine: plain(fakeengine.Config{Chatter: true}),
			change: func(s *recipe.Spec) {
				s.Ready.Timeout, s.Ready.Stall = 6*time.Second, 5*time.Second
			},
			want: results.FailReadyTimeout, says: "TCP connection",
		},
		{
			name: "falls silent", once: true,
			engine: plain(fakeengine.Config{Silent: true, Children: crowd[:1]}),
			change: func(s *recipe.Spec) { s.Ready.Stall = time.Second },
			want:   results.FailReadyStall, says: "no CPU time",
		},
		{
			name: "asks for a key", engine: plain(fakeengine.Config{Key: "secret-key"}), want: results.FailAuth,
			says: "api-key:",
		},
		{
			name: "gets its key", engine: plain(fakeengine.Config{Key: "secret-key"}), change: func(s *recipe.Spec) {
				s.APIKey = "secret-key"
			},
		},
		{
			name: "never says the text waited for", once: true,
			engine: plain(fakeengine.Config{}), change: func(s *recipe.Spec) {
				s.Ready.Timeout, s.Ready.Log = 10*time.Second, "fired up"
			},
			want: results.FailReadyTimeout, says: "fired up",
		},
		{
			name:   "says the text waited for",
			once:   true,
			engine: plain(fakeengine.Config{Lines: []string{"The server is fired up"}}),
			change: func(s *recipe.Spec) { s.Ready.Log = "fired up" },
		},
	}
}

// launched are the kinds that start a process.
func launched() []engines.Kind {
	return slices.DeleteFunc(engines.All(), func(k engines.Kind) bool { return k.External })
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, kind := range launched() {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			for _, s := range stages() {
				if s.skip != nil && s.skip(kind) || s.once && kind.Name != "vllm" {
					continue
				}
				t.Run(s.name, func(t *testing.T) {
					t.Parallel()
					s.play(t, kind)
				})
			}
		})
	}
}

// play runs one stage and checks result, journal and leftovers (the last in
// prepare's clean-up).
func (s stage) play(t *testing.T, kind engines.Kind) {
	b := prepare(t, kind, s.engine(kind))
	if s.change != nil {
		s.change(&b.spec)
	}
	if s.want == "" {
		server := b.launch(t)
		if proof, err := server.Stop(t.Context()); err != nil || !proof.Clean() {
			t.Errorf("Stop() = %+v, %v, want a clean proof", proof, err)
		}
		b.story(t, storyGood)
		return
	}
	failure := b.refuse(t, s.want)
	if !strings.Contains(failure.Message, s.says) {
		t.Errorf("failure = %q, want it to say %q", failure.Message, s.says)
	}
	if s.code != nil && (failure.ExitCode == nil || *failure.ExitCode != *s.code) {
		t.Errorf("exit code = %v, want %d", failure.ExitCode, *s.code)
	}
	b.story(t, storyBad)
	if told := b.journal.last(results.LifeFailed).Failure; told == nil || told.Class != s.want {
		t.Errorf("journal tells failure %v, want class %s", told, s.want)
	}
	if proof := b.journal.last(results.LifeStopped).Proof; proof == nil || !proof.Clean() {
		t.Errorf("journal tells proof %+v, want a clean one", proof)
	}
}

// A fatal line ends the wait at once, whether the server continues hanging or
// exits, and with whatever code.
func TestConformanceFatalLine(t *testing.T) {
	t.Parallel()
	for _, kind := range launched() {
		line, class := fatalSample(kind)
		if line == "" {
			continue
		}
		for name, engine := range map[string]fakeengine.Config{
			"then hangs": {Silent: true},
			"then exits": {ExitAtOnce: new(0)},
		} {
			t.Run(kind.Name+" "+name, func(t *testing.T) {
				t.Parallel()
				engine.Lines = []string{"\x1b[31mloading\x1b[0m", "\x1b[31m" + line + "\x1b[0m"}
				b := prepare(t, kind, engine)
				if engine.ExitAtOnce != nil {
					b.ownEnd = patience
				}
				failure := b.refuse(t, class)
				if !strings.Contains(failure.Message, line[:20]) || !slices.Contains(failure.LogTail, line) {
					t.Errorf("failure = %q with tail %q, want the line %q in both", failure.Message,
						failure.LogTail, line)
				}
				if engine.ExitAtOnce != nil && (failure.ExitCode == nil || *failure.ExitCode != 0) {
					t.Errorf("exit code = %v, want 0", failure.ExitCode)
				}
				b.story(t, storyBad)
			})
		}
	}
}

// A server that dies under load closes Done and says why.
func TestConformanceDeathWhileServing(t *testing.T) {
	t.Parallel()
	for _, kind := range launched() {
		line, class := fatalSample(kind)
		for _, c := range []struct {
			name   string
			engine fakeengine.Config
			act    func(*Server)
			want   results.FailureClass
			code   *int
		}{
			{
				"exits",
				fakeengine.Config{DieAt: 2, Children: []fakeengine.Child{{Session: true}}},
				request,
				results.FailExited, new(0),
			},
			{"is killed", fakeengine.Config{Children: []fakeengine.Child{{}}}, kill, results.FailExited, new(137)},
			{
				"exits after a fatal line",
				fakeengine.Config{FatalAt: 2, FatalLine: line, DieAt: 3},
				requests,
				class, new(0),
			},
		} {
			if c.want == "" {
				continue // the kind knows no fatal line
			}
			t.Run(kind.Name+" "+c.name, func(t *testing.T) {
				t.Parallel()
				b := prepare(t, kind, c.engine)
				server := b.launch(t)
				c.act(server)
				select {
				case <-server.Done():
				case <-time.After(patience):
					t.Fatal("Done() is open long after the server's end")
				}
				failure := server.Failure()
				if failure.Class != c.want {
					t.Errorf("Failure() = %v, want class %s", failure, c.want)
				}
				if c.code != nil && (failure.ExitCode == nil || *failure.ExitCode != *c.code) {
					t.Errorf("exit code = %v, want %d", failure.ExitCode, *c.code)
				}
				if proof, err := server.Stop(t.Context()); err != nil || !proof.Clean() {
					t.Errorf("Stop() = %+v, %v, want a clean proof", proof, err)
				}
				b.story(t, storyDied)
			})
		}
	}
}

// A fatal line alone is not an end: engines log errors that they survive, and
// quote them.
func TestFatalLineWhileServing(t *testing.T) {
	t.Parallel()
	kind := vllm(t)
	b := prepare(t, kind, fakeengine.Config{FatalAt: 2, FatalLine: "torch.OutOfMemoryError: CUDA out of memory."})
	server := b.launch(t)
	requestUntilFatal(server)
	select {
	case <-server.Done():
		t.Errorf("Done() is closed: %v, want a server that is left alone", server.Failure())
	case <-time.After(3 * watchServe):
	}
	if server.log.FatalLine() == nil {
		t.Error("the log has no fatal line")
	}
	if proof, err := server.Stop(t.Context()); err != nil || !proof.Clean() {
		t.Errorf("Stop() = %+v, %v, want a clean proof", proof, err)
	}
	b.story(t, storyGood)
}

// A start continues beside a fatal line while there are signs of life.
func TestFatalLineOfAStartThatGoesOn(t *testing.T) {
	t.Parallel()
	for name, engine := range map[string]fakeengine.Config{
		"and serves":     {},
		"loads for long": {Loading: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			engine.Lines = []string{"huggingface_hub.errors.LocalEntryNotFoundError: outgoing traffic has been disabled"}
			b := prepare(t, vllm(t), engine)
			b.ownEnd = time.Minute
			server := b.launch(t)
			if proof, err := server.Stop(t.Context()); err != nil || !proof.Clean() {
				t.Errorf("Stop() = %+v, %v, want a clean proof", proof, err)
			}
			b.story(t, storyGood)
		})
	}
}

// An engine that fails is given the time to end by itself: a signal in the
// meantime would hang it, and hide its exit code.
func TestFailedStartEndsByItself(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{
		Lines:  []string{"ValueError: No available memory for the cache blocks."},
		Silent: true, ExitAfter: time.Second, ExitCode: 1, IgnoreTerm: true,
	})
	b.ownEnd = time.Minute
	failure := b.refuse(t, results.FailKVCache)
	if failure.ExitCode == nil || *failure.ExitCode != 1 {
		t.Errorf("exit code = %v, want the engine's own 1", failure.ExitCode)
	}
	if proof := b.journal.last(results.LifeStopped).Proof; proof == nil || len(proof.Signals) != 0 {
		t.Errorf("proof = %+v, want no signal", proof)
	}
}

// A stop in the middle of such a start waits for the engine's own end, too.
func TestStopAfterFatalLine(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{
		Lines:  []string{"ValueError: No available memory for the cache blocks."},
		Silent: true, ExitAfter: 3 * time.Second, ExitCode: 1, IgnoreTerm: true,
	})
	b.ownEnd = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go onceLogged(ctx, b.spec.LogPath, "No available memory", cancel)
	_, err := b.Launch(ctx, b.kind, b.spec)
	if err == nil {
		t.Fatal("Launch() = nil")
	}
	if proof := b.journal.last(results.LifeStopped).Proof; proof == nil || len(proof.Signals) != 0 ||
		proof.ExitCode == nil || *proof.ExitCode != 1 {
		t.Errorf("proof = %+v, want no signal and the engine's own exit code", proof)
	}
}

// patience is how long a test waits for what comes at once on an idle machine.
const patience = 90 * time.Second

// onceLogged calls do when the log at path holds words.
func onceLogged(ctx context.Context, path, words string, do func()) {
	for ctx.Err() == nil {
		if text, _ := os.ReadFile(path); bytes.Contains(text, []byte(words)) {
			do()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// losesTerm is vLLM while its engine starts: a SIGTERM has no effect.
func losesTerm() fakeengine.Config {
	return fakeengine.Config{
		Lines: []string{"INFO Initializing a V1 LLM engine (v0.22.1) with config: x"}, Loading: time.Minute,
		LosesTerm: 2 * time.Second, TermCode: 7,
	}
}

// stopStart gives up a start once its log names the engine, and expects that a
// later SIGTERM ends it.
func (b *bench) stopStart(t *testing.T) {
	t.Helper()
	b.spec.StopGrace = 5 * time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go onceLogged(ctx, b.spec.LogPath, "Initializing a V1 LLM engine", cancel)
	if _, err := b.Launch(ctx, b.kind, b.spec); err == nil {
		t.Fatal("Launch() = nil")
	}
	proof := b.journal.last(results.LifeStopped).Proof
	if proof == nil || proof.ExitCode == nil || *proof.ExitCode != 7 || slices.Contains(proof.Signals, "KILL") {
		t.Errorf("proof = %+v, want an end by SIGTERM, exit code 7", proof)
	}
}

// vLLM loses a SIGTERM while its engine starts: it is sent again, also where a
// container engine's own stop sends it once.
func TestLostTermIsSentAgain(t *testing.T) {
	t.Parallel()
	t.Run("process", func(t *testing.T) {
		t.Parallel()
		prepare(t, vllm(t), losesTerm()).stopStart(t)
	})
	t.Run("container", func(t *testing.T) {
		t.Parallel()
		b := prepare(t, vllm(t), losesTerm())
		contain(t, b, "docker", fakecontainer.Config{})
		b.stopStart(t)
	})
}

// Sockets that vLLM leaves behind are in a folder that goes with the server.
func TestSocketsFolderGoes(t *testing.T) {
	t.Parallel()
	b := prepare(t, vllm(t), fakeengine.Config{})
	server := b.launch(t)
	folder := server.private
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		t.Errorf("sockets folder %q: %v, want one that is there", folder, err)
	}
	environ, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(server.Info().PID), "environ"))
	if err != nil || !strings.Contains(string(environ), "VLLM_RPC_BASE_PATH="+folder) {
		t.Errorf("the server's environment: %v, want VLLM_RPC_BASE_PATH", err)
	}
	if _, err := os.Create(filepath.Join(folder, "left")); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Stop(t.Context()); err != nil {
		t.Errorf("Stop() = %v", err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("sockets folder after the stop: %v, want it gone", err)
	}
}

// The path of a socket is limited, however long that of the folder for temporary
// files is.
func TestSocketsFolderIsShort(t *testing.T) {
	t.Parallel()
	for _, temp := range []string{"/tmp", "/scratch/jobs/1234", "/" + strings.Repeat("x", 200)} {
		path := filepath.Join(socketsFolder(temp), "01234567-89ab-cdef-0123-456789abcdef")
		if len(path) > 107 || len(temp) < 50 && !strings.HasPrefix(path, temp+"/bench-") {
			t.Errorf("a socket below %s is %s, of %d bytes", temp, path, len(path))
		}
	}
}

// requests sends a completion that hangs at a fatal line, and another one.
func requests(s *Server) {
	requestUntilFatal(s)
	request(s)
}

// requestUntilFatal sends a completion and gives it up once the log has a fatal line.
func requestUntilFatal(s *Server) {
	ctx, giveUp := context.WithTimeout(context.Background(), patience)
	var asking sync.WaitGroup
	asking.Go(func() { s.Ask(ctx, "POST", endpoint.CompletionsPath, map[string]any{"prompt": "x"}, patience) })
	for s.log.FatalLine() == nil && ctx.Err() == nil {
		time.Sleep(watchServe / 10)
	}
	giveUp()
	asking.Wait()
}

// request sends one completion and does not care about its end.
func request(s *Server) {
	s.Ask(context.Background(), "POST", endpoint.CompletionsPath, map[string]any{"prompt": "x"}, patience)
}

func kill(s *Server) { _ = syscall.Kill(s.Info().PID, syscall.SIGKILL) }

func TestExternal(t *testing.T) {
	t.Parallel()
	kind, ok := engines.Lookup("external")
	if !ok {
		t.Fatal(`Lookup("external") found nothing`)
	}
	for _, c := range []struct {
		name   string
		engine fakeengine.Config
		change func(*recipe.Spec)
		want   results.FailureClass
	}{
		{"serves", fakeengine.Config{Model: "tiny"}, nil, ""},
		{"any model", fakeengine.Config{Model: "whatever"}, func(s *recipe.Spec) { s.Model = "" }, ""},
		{"base with /v1", fakeengine.Config{Model: "tiny"}, func(s *recipe.Spec) { s.BaseURL += "/v1/" }, ""},
		{"still loading", fakeengine.Config{Model: "tiny", Loading: 300 * time.Millisecond}, nil, ""},
		{"no model list", fakeengine.Config{Paths: fakeengine.Paths{Health: "/health"}}, nil, ""},
		{"another model", fakeengine.Config{Model: "another"}, nil, results.FailWrongModel},
		{"key", fakeengine.Config{Model: "tiny", Key: "secret-key"}, nil, results.FailAuth},
		{"no tokens", fakeengine.Config{Model: "tiny", NoTokens: true}, shortTimeout, results.FailReadyTimeout},
		{"nobody there", fakeengine.Config{}, func(s *recipe.Spec) {
			shortTimeout(s)
			s.BaseURL = "http://127.0.0.1:1"
		}, results.FailReadyTimeout},
		{
			"no address",
			fakeengine.Config{},
			func(s *recipe.Spec) { s.BaseURL = "localhost:8000" },
			results.FailBadRecipe,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.engine.Paths == (fakeengine.Paths{}) {
				c.engine.Paths = fakeengine.VLLM()
			}
			remote := httptest.NewServer(fakeengine.Handler(c.engine))
			defer remote.Close()
			spec := recipe.Spec{
				Launcher: kind.Name, Model: "tiny", BaseURL: remote.URL,
				Ready: recipe.Ready{Timeout: 20 * time.Second},
			}
			if c.change != nil {
				c.change(&spec)
			}
			story := &journal{}
			launcher := Launcher{Journal: story.write, Environ: os.Environ()}
			server, err := launcher.Launch(t.Context(), kind, spec)
			if c.want != "" {
				if err == nil || asFailure(err).Class != c.want {
					t.Errorf("Launch() = %v, want class %s", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatalf("Launch() = %v", err)
			}
			if server.BaseURL() != remote.URL {
				t.Errorf("BaseURL() = %q, want %q", server.BaseURL(), remote.URL)
			}
			if proof, err := server.Stop(t.Context()); err != nil || proof.Signals != nil {
				t.Errorf("Stop() = %+v, %v, want nothing done", proof, err)
			}
			if story.kinds() != "" {
				t.Errorf("journal = %q, want nothing: an external server's life is not ours", story.kinds())
			}
		})
	}
}

// What the log of a start says comes with the server's info, for every kind
// that has milestones.
func TestConformanceStartup(t *testing.T) {
	t.Parallel()
	logs := map[string]string{
		"vllm": captured(t, "startup/vllm-v1.log"), "simulator": captured(t, "startup/vllm-v0.log"),
		"sglang": captured(t, "startup/sglang.log"), "llamacpp": captured(t, "llama-server/serving-b10587.stderr"),
		"trtllm": "[TensorRT-LLM] TensorRT-LLM version: 1.0.0\nModel init total -- 5.06s",
		"tgi":    "INFO text_generation_launcher: Shard ready in 12.5s rank=0",
		"ollama": `msg="llama runner started in 1.52 seconds"`,
	}
	for _, kind := range launched() {
		if len(kind.Log.Milestones) == 0 {
			continue
		}
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			if logs[kind.Name] == "" {
				t.Fatal("no log of a start that has its milestones: add one above")
			}
			b := prepare(t, kind, fakeengine.Config{Lines: strings.Split(logs[kind.Name], "\n")})
			info := b.launch(t).Info()
			if info.Startup == nil || len(info.Startup.Phases) == 0 {
				t.Fatalf("Info().Startup = %+v, want phases", info.Startup)
			}
			if text := fmt.Sprint(info.Startup.Arguments); strings.Contains(text, "k-secret") ||
				info.Startup.Arguments == nil {
				t.Errorf("arguments = %v, want some without the key", info.Startup.Arguments)
			}
			if info.Version == "" {
				t.Error("no version")
			}
		})
	}
}

// captured is a file that an engine wrote.
func captured(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile("engines/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
