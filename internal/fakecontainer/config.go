// Package fakecontainer is a test double: the client of a container engine,
// together with the engine, played by a re-executed test binary. Its
// containers are real processes that outlive the client that started them, as
// those of docker do; within each the same test binary runs as a fake engine.
//
// What goes in: a Config, and the command lines that bench gives to docker or
// podman. What comes out: processes, files below Config.Dir, and answers in
// the words of the real clients. It isolates nothing.
package fakecontainer

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/benchrig/bench/internal/executable"
)

// Variable names the environment variable that turns a test binary into the
// client.
const Variable = "BENCH_FAKE_CONTAINER"

// Config says how the engine behaves. Commands are named as in argv: "run",
// "stop", "image".
type Config struct {
	Dir         string            // of its state; must exist
	Hang        []string          // commands that never end
	Lie         []string          // commands that end with 0 and do nothing
	Fail        map[string]string // commands that end with 125 and these words on stderr
	Late        []string          // commands that do their work and never end
	RemoveFails int               // the first so many calls of rm fail
	LogsFail    int               // the first so many calls of logs fail
	Missing     bool              // the image is not there before it is pulled
	OOMKilled   bool              // every container's end looks like that
	WrongPID    int               // inspect gives it as that of the first process, as an engine of another machine does
}

// Install writes an executable called name ("docker", "podman") into folder
// that behaves as config says.
func Install(folder, name string, config Config) error {
	text, err := json.Marshal(config)
	if err != nil {
		return fmt.Errorf("encode fake container engine: %w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\n%s='%s' exec '%s' \"$@\"\n", Variable, text, program)
	return executable.Write(filepath.Join(folder, name), script)
}
