package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/internal/executable"
	"github.com/benchrig/bench/internal/fakegpu"
	"github.com/benchrig/bench/internal/freeport"
)

// notRun gives, for blocks of commands in docs/ that TestDocs does not run, how
// their first line begins and the reason.
var notRun = map[string]string{
	"bench run two.yaml --on slurm": "TestCluster runs it: it needs a Slurm cluster",
	"bench calibrate --streams":     "it needs vLLM, and takes minutes",
	"bench record":                  "it ends with Ctrl-C only: the script record runs it",
	"go test ./report/page":         "a benchmark, which takes minutes",
	"loginctl enable-linger":        "it needs systemd with a user's session",
	"systemd-run":                   "it needs systemd with a user's session",
}

// TestDocs runs the blocks of commands in docs/ as a user would type them: on
// the simulator, in a folder with the files and runs that the pages speak of. The
// blocks of a page follow each other in the same folder; pages run beside each other.
func TestDocs(t *testing.T) {
	home := docsHome(t)
	var first []string // commands of blocks, which notRun may name
	t.Run("pages", func(t *testing.T) {
		for _, page := range docsPages(t) {
			blocks := commandBlocks(read(t, page))
			for _, b := range blocks {
				first = append(first, b.commands[0])
			}
			if len(blocks) == 0 {
				continue
			}
			t.Run(filepath.Base(page), func(t *testing.T) {
				t.Parallel()
				here := home.copied(t)
				for _, b := range blocks {
					t.Run(fmt.Sprint(b.line), func(t *testing.T) {
						if why := b.notRun(); why != "" {
							t.Skip(why)
						}
						here.run(t, b)
					})
				}
			})
		}
	})

	for prefix := range notRun {
		if !slices.ContainsFunc(first, func(command string) bool { return strings.HasPrefix(command, prefix) }) {
			t.Errorf("no block of docs/ begins with %q, which notRun lists", prefix)
		}
	}
}

// notRun says why a block is not run; "": it is.
func (b commandBlock) notRun() string {
	for prefix, why := range notRun {
		if strings.HasPrefix(b.commands[0], prefix) {
			return why
		}
	}
	if strings.Contains(b.commands[0], "...") {
		return "a synopsis: TestDocsFlags looks at its flags"
	}
	return ""
}

// TestDocsFlags checks that each command of bench in the pages exists, whether
// in a block or within a sentence, and so do its flags.
func TestDocsFlags(t *testing.T) {
	checked := 0
	for _, page := range append(docsPages(t), "../../README.md") {
		text := read(t, page)
		for _, m := range regexp.MustCompile("`(bench [a-z][^`]*)`").FindAllStringSubmatch(text, -1) {
			checkFlags(t, page, m[1])
			checked++
		}
		for _, b := range commandBlocks(text) {
			for _, command := range b.commands {
				checkFlags(t, page, command)
				checked++
			}
		}
	}
	if checked < 200 {
		t.Errorf("%d commands found, want 200 at least: have the pages changed their form?", checked)
	}
}

func checkFlags(t *testing.T, page, line string) {
	t.Helper()
	line, _, _ = strings.Cut(line, " --client '") // flags of another client
	line, _, _ = strings.Cut(line, " #")
	words := strings.Fields(strings.NewReplacer("[", " ", "]", " ", "'", "", `"`, "").Replace(line))
	if words[0] != "bench" {
		return
	}

	root := newRootCommand(env{stdout: io.Discard})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("")
	root.InitDefaultHelpCmd()
	cmd, rest, err := root.Find(words[1:])
	if err != nil || cmd == root {
		t.Errorf("%s: %q: no such command: %v", page, line, err)
		return
	}
	for _, word := range rest {
		name, _, _ := strings.Cut(strings.TrimRight(word, ".,;:"), "=")
		if strings.HasPrefix(name, "-") && name != "-" && name != "--help" && !hasFlag(t, cmd, name) {
			t.Errorf("%s: %q: %s has no flag %s", page, line, cmd.CommandPath(), name)
		}
	}
}

// hasFlag reports whether a command has a flag, or says so in its help where it
// reads its flags itself.
func hasFlag(t *testing.T, cmd *cobra.Command, name string) bool {
	t.Helper()
	if cmd.DisableFlagParsing {
		var help strings.Builder
		root := newRootCommand(env{stdout: &help})
		root.SetArgs(append(strings.Fields(cmd.CommandPath())[1:], "--help"))
		if err := root.ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		return regexp.MustCompile(regexp.QuoteMeta(name) + `\b`).MatchString(help.String())
	}
	cmd.InitDefaultHelpFlag()
	short := strings.TrimPrefix(name, "-")
	return cmd.Flag(strings.TrimPrefix(name, "--")) != nil ||
		len(short) == 1 && cmd.Flags().ShorthandLookup(short) != nil
}

// commandBlock is a block of a page that shows commands, perhaps with what they
// print.
type commandBlock struct {
	line     int // of the page at which it begins
	commands []string
	printed  string // the first line after the first command; "" if none is shown
}

var blockOfPage = regexp.MustCompile("(?m)^```(\\w*)\n((?s:.*?))^```$|^\n((?:    +.*\n|\n)+)")

// commandBlocks finds the blocks of a page that begin with a command. Behind
// "$ " stand commands, and everything else is what they print; without it each
// line is a command. A backslash continues one, as does an open quotation.
func commandBlocks(page string) []commandBlock {
	begins := regexp.MustCompile(`^(\$ |bench |make |go |--set |loginctl |systemd-run )`)
	var out []commandBlock
	for _, at := range blockOfPage.FindAllStringSubmatchIndex(page, -1) {
		if at[2] >= 0 && at[2] == at[3] {
			continue // a fence without a language: a screen
		}
		start, end := max(at[4], at[6]), max(at[5], at[7])
		lines := strings.Split(strings.TrimRight(page[start:end], "\n"), "\n")
		for i := range lines {
			lines[i] = strings.TrimSpace(lines[i])
		}
		if !begins.MatchString(lines[0]) {
			continue
		}

		b := commandBlock{line: 1 + strings.Count(page[:start], "\n")}
		isSession := strings.HasPrefix(lines[0], "$ ")
		for i := 0; i < len(lines); i++ {
			line, isCommand := strings.CutPrefix(lines[i], "$ ")
			if isSession && !isCommand {
				if len(b.commands) == 1 && b.printed == "" {
					b.printed = line
				}
				continue
			}
			for i+1 < len(lines) && (strings.HasSuffix(line, `\`) || strings.Count(line, "'")%2 != 0) {
				i++
				line = strings.TrimSuffix(line, `\`) + " " + lines[i]
			}
			if line != "" {
				b.commands = append(b.commands, line)
			}
		}
		out = append(out, b)
	}
	return out
}

func docsPages(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	return pages
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// docsFolder is the folder of a user whom the pages speak of, with a run in it.
type docsFolder struct {
	dir, runID string
	tools      string // in PATH: bench, and programs that stand for others
}

const docsScenario = `schema: 1
name: my
server: {launcher: simulator, model: simulated/Llama-3.2-1B-Instruct, args: {sim-load-time: 0s, sim-speed: 50}}
variants: [{name: tp8, args: {max-num-seqs: 64}}, {name: tp4, args: {max-num-seqs: 32}}]
load:
  dataset: {kind: random}
  input-len: 32
  output-len: 16
  num-prompts: 8
  sweep: {max-concurrency: [8, 16]}
repeats: 2
`

const vllmScenario = `schema: 1
name: vllm
vars: {model: org/model}
server: {launcher: vllm, model: "${model}"}
variants: [{name: tp8, gpus: 1}]
load: {dataset: {kind: random}, input-len: 32, output-len: 16, sweep: {max-concurrency: [8]}}
`

// docsHome makes the folder. Its run appears under each name that a page uses.
func docsHome(t *testing.T) docsFolder {
	t.Helper()
	home := docsFolder{dir: t.TempDir(), tools: t.TempDir()}
	benchIn(t, home.tools)
	for name, script := range map[string]string{
		"benchstat": "exec grep -q ^Benchmark \"$(eval echo \\${$#})\"", // its last argument is a file
		"ssh":       `while [ "$1" != bench ]; do shift; done; exec "$@"`,
	} {
		if err := executable.Write(filepath.Join(home.tools, name), "#!/bin/sh\n"+script+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	machine, err := fakegpu.New(filepath.Join(home.dir, "machine"), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = machine.Close() })

	testdata := "../../internal/importer/testdata/"
	for name, text := range map[string]string{
		"my.yaml":       docsScenario,
		"tp.yaml":       docsScenario,
		"vllm.yaml":     vllmScenario,
		"strix-halo.md": read(t, testdata+"documents/strix-halo.md"),
		"sideways.md":   read(t, testdata+"sideways.md"),
		"new.json":      read(t, "../../metrics/testdata/vllm-run-newest.json"),
		"old.txt":       read(t, testdata+"vllm-v06.stdout.txt"),
	} {
		if err := os.WriteFile(filepath.Join(home.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	home.shell(t, `bench run my.yaml; mkdir results/nightly; mv results/my/* results/nightly; bench run my.yaml
		for to in results/night results/nightly main.results pr.results A B; do
			mkdir -p $to; cp -r results/my/* $to
		done
		bench import new.json --name new; bench import old.txt --name old`)
	runs, _ := filepath.Glob(filepath.Join(home.dir, "results/my/*"))
	if len(runs) != 1 {
		t.Fatalf("runs: %q", runs)
	}
	home.runID = filepath.Base(runs[0])
	return home
}

const serverOfDocs = "bench simulate --port 8000 --model meta-llama/Llama-3.1-8B-Instruct --max-model-len 16384"

// serves matches commands that run until they are stopped.
var serves = regexp.MustCompile(`^bench (simulate |watch .*--http|gpu --watch)`)

// copied is a copy of the folder, for a page.
func (f docsFolder) copied(t *testing.T) docsFolder {
	t.Helper()
	to := f
	to.dir = t.TempDir()
	if err := os.CopyFS(to.dir, os.DirFS(f.dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// run runs the commands of a block, one after another. Servers run beside those
// that follow.
func (f docsFolder) run(t *testing.T, b commandBlock) {
	t.Helper()
	commands := b.commands
	text := strings.Join(commands, "\n")
	if strings.Contains(text, "bench load") || strings.Contains(text, "bench suite") {
		if !strings.Contains(text, "bench simulate") {
			commands = append([]string{serverOfDocs}, commands...)
		}
	}

	here := f.substitutes(t)
	for i, command := range commands {
		command = here.Replace(command)
		switch {
		case serves.MatchString(command):
			stop := f.start(t, command)
			defer stop()
		case strings.HasPrefix(command, "--set "):
			f.shell(t, "bench plan vllm.yaml "+command)
		default:
			out := f.shell(t, command)
			if want := here.Replace(b.printed); i == 0 && want != "" && !hasShape(out, want) {
				t.Errorf("%s prints no line like %q:\n%s", command, want, out)
			}
		}
	}
}

// hasShape reports whether a line of the output is that of a page but for its
// figures, and for the hashes in names of imported runs.
func hasShape(out, line string) bool {
	hash := regexp.MustCompile(`-[0-9a-f]{8}\b`)
	return slices.ContainsFunc(strings.Split(out, "\n"), func(printed string) bool {
		return hash.ReplaceAllString(shape(printed), "") == hash.ReplaceAllString(shape(line), "")
	})
}

// substitutes replaces what differs on this machine (hosts, ports, names and ids
// of runs) and what would take long on it (speeds, rates, repeats, large images).
func (f docsFolder) substitutes(t *testing.T) *strings.Replacer {
	server, page := strconv.Itoa(freeport.Take(t, 1)), strconv.Itoa(freeport.Take(t, 1))
	return strings.NewReplacer(
		"of night 20261128-081729-5fff", "of my "+f.runID, "<run-id>", f.runID, "20261128-081729-5fff", f.runID,
		"/data/results", "results",
		"--http 127.0.0.1:8090", "--http 127.0.0.1:"+page,
		"http://server:8000", "http://127.0.0.1:"+server,
		"http://127.0.0.1:8000", "http://127.0.0.1:"+server,
		"bench simulate --port 8000", "bench simulate --sim-speed 1000 --port "+server,
		"--port 8000", "--port "+server,
		"bench load --model", "bench load --tokenizer none --port "+server+" --model",
		"repeats=5", "repeats=1", "512x512", "56x84",
		"--request-rate 20", "--request-rate 2000",
	)
}

// start starts a command that serves, and waits until it has printed a line.
// The function that it returns interrupts the command and waits for its end.
func (f docsFolder) start(t *testing.T, command string) (stop func()) {
	t.Helper()
	cmd := f.command(t.Context(), "exec 2>&1; exec "+command)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}

	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Errorf("%s printed nothing: %v", command, cmd.Wait())
	}
	t.Logf("%s\n%s", command, lines.Text())
	drained := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, out)
		close(drained)
	}()
	awaitPort(command, drained)

	return func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		<-drained
		_ = cmd.Wait()
	}
}

var portOf = regexp.MustCompile(`^bench simulate .*--port (\d+)`)

// awaitPort waits until a simulator listens where its command says, or has ended.
func awaitPort(command string, ended <-chan struct{}) {
	port := portOf.FindStringSubmatch(command)
	if port == nil {
		return
	}
	for {
		if conn, err := net.Dial("tcp", "127.0.0.1:"+port[1]); err == nil {
			_ = conn.Close()
			return
		}
		select {
		case <-ended:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// ofMachine are commands with the exit code by which they speak of the machine,
// which passes: it is not ready, has leftovers, or has become slower.
var ofMachine = map[string]int{"bench doctor": 3, "bench clean --dry-run": 3, "bench reproduce": 4}

// shell runs a command to its end, and returns what it printed.
func (f docsFolder) shell(t *testing.T, command string) string {
	t.Helper()
	cmd := f.command(t.Context(), command)
	out, err := cmd.CombinedOutput()
	for prefix, code := range ofMachine {
		if strings.HasPrefix(command, prefix) && cmd.ProcessState.ExitCode() == code {
			err = nil
		}
	}
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, command, out)
	}
	t.Logf("%s\n%s", command, out)
	return string(out)
}

func (f docsFolder) command(ctx context.Context, command string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-ec", command)
	cmd.Dir = f.dir
	cmd.Env = append(os.Environ(), "PATH="+f.tools+":"+os.Getenv("PATH"), "HOME="+f.dir, "NO_COLOR=1",
		"BENCH_STATE_DIR="+filepath.Join(f.dir, "state"), "BENCH_SYSFS_ROOT="+filepath.Join(f.dir, "machine"))
	return cmd
}
