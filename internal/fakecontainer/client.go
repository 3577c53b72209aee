package fakecontainer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	shimArgument = "fake-container-shim"
	poll         = 10 * time.Millisecond
	lifetime     = 10 * time.Minute // of whatever a broken test left behind
	refused      = 125              // exit code of a client whose engine refuses
)

// Main plays the client and exits, if this process was started as one; else it
// returns at once. It is called before fakeengine.Main.
func Main() {
	value, found := os.LookupEnv(Variable)
	if !found {
		return
	}

	var config Config
	if err := json.Unmarshal([]byte(value), &config); err != nil {
		fmt.Fprintln(os.Stderr, "fake container engine:", err)
		os.Exit(99)
	}
	if len(os.Args) == 3 && os.Args[1] == shimArgument {
		os.Exit(config.shim(os.Args[2]))
	}

	code := config.client(os.Args[1:])
	if len(os.Args) > 1 && slices.Contains(config.Late, os.Args[1]) {
		time.Sleep(lifetime)
	}

	os.Exit(code)
}

func (c Config) client(args []string) int {
	if len(args) == 0 {
		return 1
	}

	name := args[0]
	if text, fails := c.Fail[name]; fails {
		fmt.Fprintln(os.Stderr, text)
		return refused
	}

	switch {
	case slices.Contains(c.Hang, name):
		time.Sleep(lifetime)
	case slices.Contains(c.Lie, name):
		return 0
	}

	last := args[len(args)-1]
	switch name {
	case "version":
		fmt.Println("0.0.0-fake")
	case "image":
		return c.image(last)
	case "pull":
		return c.pull()
	case "run":
		return c.run(args[1:])
	case "ps":
		c.list(value(args, "--filter"))
	default:
		return c.one(name, args, last)
	}

	return 0
}

// one carries out the commands about one container.
func (c Config) one(name string, args []string, which string) int {
	found, err := c.find(which)
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error response from daemon: No such container:", which)
		return 1
	}

	switch name {
	case "inspect":
		c.show(found, value(args, "--format"))
	case "wait":
		found.await(lifetime)
		state, _ := c.load(found.ID)
		fmt.Println(state.State.ExitCode)
	case "logs":
		c.logs(found, value(args, "--since") != "")
	case "stop":
		grace, _ := strconv.Atoi(value(args, "-t"))
		found.signal(syscall.SIGTERM)
		if !found.await(time.Duration(grace) * time.Second) {
			found.signal(syscall.SIGKILL)
			found.await(5 * time.Second)
		}
	case "kill":
		if value(args, "--signal") == "TERM" {
			found.signal(syscall.SIGTERM)
			return 0
		}
		found.signal(syscall.SIGKILL)
		found.await(5 * time.Second)
	case "rm":
		return c.remove(found)
	case "port":
		for _, published := range found.Published {
			outside, inside, _ := cutLast(published)
			fmt.Printf("%s/tcp -> %s\n", inside, outside)
		}
	default:
		fmt.Fprintf(os.Stderr, "unknown command %q\n", name)
		return 1
	}

	return 0
}

func cutLast(published string) (outside, inside string, ok bool) {
	i := strings.LastIndex(published, ":")
	return published[:max(i, 0)], published[i+1:], i >= 0
}

func (c Config) image(string) int {
	if _, err := os.Stat(filepath.Join(c.Dir, "pulled")); err != nil && c.Missing {
		fmt.Fprintln(os.Stderr, "Error response from daemon: No such image")
		return 1
	}
	fmt.Println(`[{"Id":"sha256:0","RepoDigests":["example.org/image@sha256:d1"],` +
		`"Config":{"Labels":{"org.opencontainers.image.version":"0.9"}}}]`)
	return 0
}

func (c Config) pull() int {
	if err := os.WriteFile(filepath.Join(c.Dir, "pulled"), nil, 0o644); err != nil {
		return 1
	}
	fmt.Print("a1b2: Pulling fs layer\n\x1b]0;title\aStatus: Downloaded newer image\n")
	return 0
}

// run starts a container's shim and returns when the container runs.
func (c Config) run(args []string) int {
	container, err := parseRun(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return refused
	}
	if _, err := c.find(container.Name); err == nil {
		fmt.Fprintf(os.Stderr, "Conflict. The container name %q is already in use\n", "/"+container.Name)
		return refused
	}
	if err := c.create(container); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return refused
	}

	program, err := os.Executable()
	if err != nil {
		return refused
	}

	shim := exec.CommandContext(context.Background(), program, shimArgument, container.ID)
	shim.Env = os.Environ()
	shim.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := shim.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return refused
	}

	for end := time.Now().Add(lifetime); time.Now().Before(end); time.Sleep(poll) {
		now, err := c.load(container.ID)
		switch {
		case err == nil && now.State.Started:
			fmt.Println(container.ID)
			return 0
		case err == nil && now.State.Error != "":
			return refused
		}
	}

	return refused
}

// remove ends a container and forgets it.
func (c Config) remove(found container) int {
	count := filepath.Join(c.Dir, "removals")
	text, _ := os.ReadFile(count)
	if len(text) < c.RemoveFails {
		_ = os.WriteFile(count, append(text, '.'), 0o644)
		fmt.Fprintln(os.Stderr, "Error response from daemon: container: driver failed to remove root filesystem: "+
			"device or resource busy")
		return 1
	}
	found.signal(syscall.SIGKILL)
	found.await(5 * time.Second)
	if err := os.RemoveAll(filepath.Join(c.Dir, found.ID)); err != nil {
		return 1
	}
	return 0
}

// logs copies a container's log to stdout until the container has ended.
func (c Config) logs(found container, onlyNew bool) {
	count := filepath.Join(c.Dir, "follows")
	if text, _ := os.ReadFile(count); len(text) < c.LogsFail {
		_ = os.WriteFile(count, append(text, '.'), 0o644)
		time.Sleep(time.Second) // the container goes on writing
		return
	}

	file, err := os.Open(filepath.Join(c.Dir, found.ID, "log"))
	if err != nil {
		return
	}
	defer file.Close()
	if onlyNew {
		_, _ = file.Seek(0, io.SeekEnd)
	}

	for end := time.Now().Add(lifetime); time.Now().Before(end); time.Sleep(poll) {
		over := !found.running()
		if n, _ := io.Copy(os.Stdout, file); n == 0 && over {
			return
		}
	}
}

func (c Config) list(filter string) {
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return
	}

	wanted := strings.TrimPrefix(filter, "label=")
	key, text, exact := strings.Cut(wanted, "=")
	for _, entry := range entries {
		found, err := c.load(entry.Name())
		if err != nil {
			continue
		}
		if given, has := found.Labels[key]; has && (!exact || given == text) {
			fmt.Println(found.ID)
		}
	}
}

// value is that of an option in argv.
func value(args []string, option string) string {
	for i, arg := range args {
		if arg == option && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

var errNone = errors.New("no such container")
