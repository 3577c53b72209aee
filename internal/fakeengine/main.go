package fakeengine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// lifetime ends an engine or child that a broken test left behind.
const lifetime = 10 * time.Minute

// Main plays the engine and exits, if this process was started as one; else
// it returns at once. It is the first thing a TestMain calls.
func Main() {
	if len(os.Args) > 2 && os.Args[1] == childArgument {
		os.Exit(childMain(os.Args[2]))
	}
	if _, found := os.LookupEnv(SpanVariable); found &&
		slices.Contains([]string{"ray", "vllm", "sglang"}, filepath.Base(os.Args[0])) {
		os.Exit(SpanMain(os.Args))
	}
	value, found := os.LookupEnv(Variable)
	if !found {
		return
	}
	var config Config
	if err := json.Unmarshal([]byte(value), &config); err != nil {
		fmt.Fprintln(os.Stderr, "fake engine:", err)
		os.Exit(99)
	}
	os.Exit(engineMain(config))
}

// eaten is memory that the engine keeps.
var eaten []byte

func engineMain(config Config) int {
	stop := termSignal(config.IgnoreTerm)
	if config.LosesTerm > 0 {
		stop = lateTerm(config.LosesTerm)
	}
	for _, child := range config.Children {
		if err := startChild(child); err != nil {
			fmt.Fprintln(os.Stderr, "fake engine: start child:", err)
			return 98
		}
	}
	go startLate(config.LateChildren)

	for _, line := range config.Lines {
		fmt.Fprintln(os.Stderr, line)
	}
	if err := config.replay(); err != nil {
		fmt.Fprintln(os.Stderr, "fake engine:", err)
		return 97
	}
	for _, name := range config.Refuses {
		if _, found := os.LookupEnv(name); found {
			fmt.Fprintf(os.Stderr, "%s is in the environment\n", name)
			return 3
		}
	}
	config.take()
	if config.ExitAtOnce != nil {
		return *config.ExitAtOnce
	}

	exit := make(chan int, 1)
	if config.ReplaceAt > 0 && os.Getenv(workerVariable) == "" {
		return supervise(config, stop)
	}
	var server *engine
	switch {
	case config.Silent:
	case config.Chatter:
		go chatter()
	default:
		var err error
		if server, err = serve(config, os.Args[1:], exit); err != nil {
			fmt.Fprintln(os.Stderr, "fake engine:", err)
			return 1
		}
	}
	end := time.After(lifetime)
	if config.ExitAfter > 0 {
		end = time.After(config.ExitAfter)
	}

	select {
	case <-stop:
		if config.TermChild != nil {
			if err := startChild(*config.TermChild); err != nil {
				fmt.Fprintln(os.Stderr, "fake engine: start child:", err)
			}
		}
		flood(config.TermFlood)
		if config.ClientsFirst && server != nil {
			server.awaitClients()
		}
		time.Sleep(config.Drain)
		return config.TermCode
	case code := <-exit:
		return code
	case <-end:
		return config.ExitCode
	}
}

// lateTerm delivers SIGTERM, but for those that come too early.
func lateTerm(after time.Duration) <-chan os.Signal {
	early, heard := termSignal(false), make(chan os.Signal, 1)
	takesTerm := time.After(after)
	go func() {
		for ready := false; ; {
			select {
			case <-takesTerm:
				fmt.Fprintln(os.Stderr, ReadyForTerm)
				ready = true
			case s := <-early:
				if ready {
					heard <- s
				}
			}
		}
	}()
	return heard
}

// take takes what the engine fills at its start: disk, shared memory, memory.
func (c Config) take() {
	if c.FloodAt == 0 {
		flood(c.Flood)
	}
	if c.ShmFile != "" {
		if err := shareMemory(c.ShmFile); err != nil {
			fmt.Fprintln(os.Stderr, "fake engine:", err)
		}
	}
	if c.Eat > 0 {
		eaten = bytes.Repeat([]byte{1}, c.Eat)
		runtime.KeepAlive(eaten)
	}
}

// startLate starts children one after the other.
func startLate(n int) {
	for range n {
		time.Sleep(100 * time.Millisecond)
		if err := startChild(Child{Session: true}); err != nil {
			fmt.Fprintln(os.Stderr, "fake engine: start child:", err)
		}
	}
}

func chatter() {
	for i := 0; ; i++ {
		fmt.Printf("Loading safetensors checkpoint shards: %d%% Completed\r", i%100)
		time.Sleep(20 * time.Millisecond)
	}
}

// termSignal delivers SIGTERM, or never anything if it is to be ignored.
func termSignal(ignore bool) <-chan os.Signal {
	signals := make(chan os.Signal, 1)
	if ignore {
		signal.Ignore(syscall.SIGTERM)
	} else {
		signal.Notify(signals, syscall.SIGTERM)
	}
	return signals
}

// startChild re-executes the test binary as a child and waits until it has
// installed its signal handler, which it shows by a byte on its stdout.
func startChild(child Child) error {
	text, err := json.Marshal(child)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}

	ready, readyWriter, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()

	cmd := exec.CommandContext(context.Background(), program, childArgument, string(text))
	cmd.Stdout = readyWriter
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: child.Group, Setsid: child.Session}
	if child.ClearEnv {
		cmd.Env = []string{"GORACE=" + PromptExit}
	} else {
		cmd.Env = withoutEngine(os.Environ())
	}

	if err := cmd.Start(); err != nil {
		return err
	}
	readyWriter.Close()
	if child.Daemon {
		_ = cmd.Wait() // the one in the middle
	}
	_, err = ready.Read(make([]byte, 1))
	return err
}

func withoutEngine(env []string) []string {
	var kept []string
	for _, entry := range env {
		if !strings.HasPrefix(entry, Variable+"=") {
			kept = append(kept, entry)
		}
	}
	return kept
}

func childMain(text string) int {
	var child Child
	if err := json.Unmarshal([]byte(text), &child); err != nil {
		return 97
	}
	if child.Daemon {
		return forkAgain(child)
	}

	stop := termSignal(child.IgnoreTerm)
	if err := disguise(child); err != nil {
		fmt.Fprintln(os.Stderr, "fake engine: disguise child:", err)
		return 94
	}
	if child.Eat > 0 {
		eaten = bytes.Repeat([]byte{1}, child.Eat)
	}

	for _, grandchild := range child.Children {
		if err := startChild(grandchild); err != nil {
			return 93
		}
	}

	_, _ = os.Stdout.Write([]byte{'.'})
	select {
	case <-stop:
		time.Sleep(child.Drain)
	case <-time.After(lifetime):
	}
	return 0
}

// forkAgain starts the child proper, with our stdout, and ends.
func forkAgain(child Child) int {
	child.Daemon = false
	text, _ := json.Marshal(child)
	program, err := os.Executable()
	if err != nil {
		return 96
	}
	cmd := exec.CommandContext(context.Background(), program, childArgument, string(text))
	cmd.Stdout = os.Stdout
	cmd.Env = os.Environ()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: child.Group, Setsid: child.Session}
	if err := cmd.Start(); err != nil {
		return 95
	}
	return 0
}

// shareMemory makes a block of shared memory in the way of Python's
// multiprocessing, and maps it for as long as this program runs.
func shareMemory(name string) error {
	const size = 4096

	file, err := os.OpenFile(filepath.Join("/dev/shm", name), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := file.Truncate(size); err != nil {
		return err
	}
	_, err = syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)

	return err
}
