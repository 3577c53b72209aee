package fakecontainer

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// container is one container.
type container struct {
	ID, Name, Image string
	Labels          map[string]string
	Env, Args       []string
	Published       []string
	State           state

	dir string
}

// state is what inspect shows of it.
type state struct {
	Running   bool
	Started   bool // it runs, or did
	Pid       int
	ExitCode  int
	OOMKilled bool
	Error     string
}

// switches are the options of run without a value.
func switches() []string { return []string{"-d", "--init"} }

// parseRun reads the arguments of run as the real clients do.
func parseRun(args []string) (container, error) {
	id := make([]byte, 32)
	_, _ = rand.Read(id)
	b := container{ID: hex.EncodeToString(id), Labels: map[string]string{}}
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		option := args[0]
		args = args[1:]
		if slices.Contains(switches(), option) {
			continue
		}
		if len(args) == 0 {
			return b, fmt.Errorf("flag needs an argument: %s", option)
		}
		given := args[0]
		args = args[1:]
		switch option {
		case "--name":
			b.Name = given
		case "--label":
			key, text, _ := strings.Cut(given, "=")
			b.Labels[key] = text
		case "-e":
			if !strings.Contains(given, "=") {
				given += "=" + os.Getenv(given)
			}
			b.Env = append(b.Env, given)
		case "-p":
			b.Published = append(b.Published, given)
		case "--cidfile":
			if err := os.WriteFile(given, []byte(b.ID), 0o644); err != nil {
				return b, err
			}
		}
	}

	if len(args) == 0 {
		return b, fmt.Errorf(`"docker run" requires at least 1 argument`)
	}

	b.Image, b.Args = args[0], args[1:]
	return b, nil
}

func (c Config) create(b container) error {
	b.dir = filepath.Join(c.Dir, b.ID)
	if err := os.Mkdir(b.dir, 0o755); err != nil {
		return err
	}
	return b.save()
}

// save writes the container's file; it fails when the container was removed.
func (b container) save() error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	draft := filepath.Join(b.dir, "draft")
	if err := os.WriteFile(draft, text, 0o644); err != nil {
		return err
	}
	return os.Rename(draft, filepath.Join(b.dir, "box.json"))
}

func (c Config) load(id string) (container, error) {
	b := container{dir: filepath.Join(c.Dir, id)}
	text, err := os.ReadFile(filepath.Join(b.dir, "box.json"))
	if err != nil {
		return b, err
	}
	return b, json.Unmarshal(text, &b)
}

// find looks a container up by id or name.
func (c Config) find(which string) (container, error) {
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return container{}, err
	}
	for _, entry := range entries {
		if b, err := c.load(entry.Name()); err == nil && (b.ID == which || b.Name == which) {
			return b, nil
		}
	}
	return container{}, errNone
}

func (c Config) show(b container, format string) {
	if strings.Contains(format, ".State") {
		if b.State.Pid > 0 && c.WrongPID > 0 {
			b.State.Pid = c.WrongPID
		}
		text, _ := json.Marshal(b.State)
		fmt.Println(string(text))
		return
	}
	labels, _ := json.Marshal(b.Labels)
	fmt.Printf(`{"Name":%q,"Labels":%s}`+"\n", "/"+b.Name, labels)
}

func (b container) signal(number syscall.Signal) {
	if b.running() && b.State.Pid > 0 {
		_ = syscall.Kill(b.State.Pid, number)
	}
}

func (b container) running() bool {
	now, err := Config{Dir: filepath.Dir(b.dir)}.load(b.ID)
	return err == nil && now.State.Running
}

// await waits until the container has ended.
func (b container) await(limit time.Duration) bool {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(poll) {
		if !b.running() {
			return true
		}
	}
	return false
}

// shim runs the container's process and notes its end. Nobody waits for it.
func (c Config) shim(id string) int {
	b, err := c.load(id)
	if err != nil {
		return 1
	}

	log, err := os.OpenFile(filepath.Join(b.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return 1
	}

	program, err := os.Executable()
	if err != nil {
		return 1
	}

	cmd := exec.CommandContext(context.Background(), program, b.Args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append([]string{"CONTAINER=fake"}, b.Env...), log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		b.State = state{Pid: -1, ExitCode: 127, Error: err.Error()}
		_ = b.save()
		return 1
	}

	b.State = state{Running: true, Started: true, Pid: cmd.Process.Pid}
	_ = b.save()
	_ = cmd.Wait()
	b.State = state{Started: true, ExitCode: cmd.ProcessState.ExitCode(), OOMKilled: c.OOMKilled}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		b.State.ExitCode = 128 + int(status.Signal())
	}

	_ = b.save() // gone with the container where that was removed meanwhile
	return 0
}
