package capture

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"path"
	"strings"
	"time"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/gpu/nvidia"
)

// captureTimeout bounds one program of a capture.
const captureTimeout = 20 * time.Second

// captureCommands is what is run of each vendor's tools, each with the name
// of its output.
func captureCommands() map[string][][]string {
	query := "--query-gpu=timestamp,driver_version,name,pci.bus_id,memory.total," +
		strings.Join(nvidia.SMIReadingFields(), ",")
	facts := "--query-gpu=" + strings.Join(nvidia.SMIFactFields(), ",")

	return map[string][][]string{
		"nvidia-smi": {
			{"plain"},
			{"list", "-L"},
			{"help-query-gpu", "--help-query-gpu"},
			{"query", query, "--format=csv"},
			{"query-least", "--query-gpu=index,uuid,name,memory.used,power.draw,temperature.gpu", "--format=csv"},
			{"facts", facts, "--format=csv"},
			{
				"compute-apps", "--query-compute-apps=gpu_uuid,gpu_bus_id,pid,process_name,used_gpu_memory",
				"--format=csv",
			},
		},
		"amd-smi": {
			{"version", "version", "--json"},
			{"list", "list", "--json"},
			{"list-e", "list", "-e", "--json"},
			{"static", "static", "--json"},
			{"static-limit", "static", "--limit", "--json"},
			{"metric-mput", "metric", "-m", "-p", "-u", "-t", "--json"},
			{"metric-c", "metric", "-c", "--json"},
			{"metric-E", "metric", "-E", "--json"},
			{"metric-throttle", "metric", "--throttle", "--json"},
			{"metric-violation", "metric", "--violation", "--json"},
			{"metric", "metric", "--json"},
			{"process", "process", "--json"},
		},
		"rocm-smi": {
			{"version", "--version"},
			{
				"figures", "--showmeminfo", "vram", "gtt", "--showpower", "--showmaxpower", "--showuse", "--showtemp",
				"--showclocks", "--json",
			},
			{"identity", "--showid", "--showuniqueid", "--showbus", "--showproductname", "--json"},
			{"energy", "--showenergycounter", "--json"},
			{"driver", "--showdriverversion", "--json"},
			{"pids", "--showpids", "--json"},
		},
	}
}

// runCommands runs the tools that are there.
func (c *capturer) runCommands(ctx context.Context) {
	commands := captureCommands()
	for _, tool := range []string{"nvidia-smi", "amd-smi", "rocm-smi"} {
		program, there := findTool(tool)
		if c.options.RunTool == nil && !there {
			c.missing("%s: not in PATH, nor in /opt/rocm/bin", tool)
			continue
		}
		for _, command := range commands[tool] {
			if ctx.Err() != nil {
				return
			}
			c.runCommand(ctx, path.Join(tool, command[0]), append([]string{program}, command[1:]...))
		}
	}
}

// findTool finds where a tool is.
func findTool(name string) (program string, there bool) {
	for _, program := range []string{name, "/opt/rocm/bin/" + name} {
		if _, err := exec.LookPath(program); err == nil {
			return program, true
		}
	}
	return name, false
}

// runCommand runs one program and keeps what it writes.
func (c *capturer) runCommand(ctx context.Context, name string, argv []string) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, captureTimeout)
	defer cancel()

	var stdout, stderr []byte
	var err error
	if c.options.RunTool != nil {
		stdout, err = c.options.RunTool(ctx, argv)
	} else {
		stdout, stderr, err = runBoth(ctx, argv)
	}

	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		c.missing("%s: %v", argv[0], err)
		return
	}

	command := Command{Argv: argv, TookS: time.Since(began).Seconds(), Stdout: name + ".stdout", Stderr: name +
		".stderr"}
	if err != nil {
		command.Exit, command.Error = -1, err.Error()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			command.Exit = exit.ExitCode()
		}
	}

	c.files[command.Stdout], c.files[command.Stderr] = stdout, stderr
	c.out.Commands = append(c.out.Commands, command)
}

func runBoth(ctx context.Context, argv []string) (stdout, stderr []byte, err error) {
	command := exec.CommandContext(ctx, argv[0], argv[1:]...)
	device.AskToEnd(command)
	var out, problems bytes.Buffer
	command.Stdout, command.Stderr = &out, &problems
	err = command.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it succeeded, and a child of it keeps the pipe
	}

	return out.Bytes(), problems.Bytes(), err
}
