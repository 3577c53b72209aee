package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// bench runs the bench program.
type bench struct {
	program string
	llama   string // "": none
	out     string // folder for results
	runs    int
	last    string // results folder of the last run
	said    string // stdout of the last command that was no run
	servers []*exec.Cmd
}

// outputMark and llamaMark are in commands for a folder of ours and for the
// folder of the real llama.cpp programs.
const (
	outputMark = "OUTPUT"
	llamaMark  = "LLAMA"
)

// stepsFailed is bench's exit code of a run that ended with failed steps: a
// study may show one.
const stepsFailed = 3

// do carries out one command of a page.
func (b *bench) do(ctx context.Context, c command, log io.Writer) (string, error) {
	if c.real && b.llama == "" {
		return "", errSkipped
	}
	if c.show && c.words[0] == "output" {
		return "```text\n" + lastPart(b.said) + "\n```", nil
	}
	if c.show {
		out, err := b.call(ctx, append([]string{"report", b.last}, c.words...))
		return tables(out), err
	}
	if c.words[0] != "bench" {
		return "", fmt.Errorf("%q: a page may run bench only", strings.Join(c.words, " "))
	}

	args := c.words[1:]
	for i, a := range args {
		a = strings.ReplaceAll(a, outputMark, filepath.Join(b.out, "output"))
		args[i] = strings.ReplaceAll(a, llamaMark, b.llama)
	}

	if args[len(args)-1] == "&" {
		return "", b.start(ctx, args[:len(args)-1])
	}
	if args[0] != "run" {
		var err error
		b.said, err = b.call(ctx, args)
		return "", err
	}

	b.runs++
	out := filepath.Join(b.out, fmt.Sprint(b.runs))
	fmt.Fprintf(log, "  bench %s\n", strings.Join(args, " "))
	if _, err := b.call(ctx, append(args, "--out", out)); err != nil {
		return "", err
	}

	found, err := filepath.Glob(out + "/*/*")
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("%d results folders in %s, want one", len(found), out)
	}

	b.last = found[0]
	return "", nil
}

// start lets a command run until the page's end, and waits until it serves.
func (b *bench) start(ctx context.Context, args []string) error {
	cmd := exec.CommandContext(ctx, b.program, args...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}

	b.servers = append(b.servers, cmd)
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "startup complete") {
			go func() { _, _ = io.Copy(io.Discard, stderr) }() // until it ends
			return nil
		}
	}

	return fmt.Errorf("bench %s ended before it served", strings.Join(args, " "))
}

// stop ends what start started.
func (b *bench) stop() {
	for _, cmd := range b.servers {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait() // its exit code says nothing about the page
	}
	b.servers = nil
}

// lastPart is what follows the last empty line, with the mark of simulated
// figures if that comes before.
func lastPart(out string) string {
	parts := strings.Split(strings.TrimSpace(out), "\n\n")
	from := len(parts) - 1
	if from > 0 && strings.HasPrefix(strings.TrimSpace(parts[from-1]), "SIMULATED") {
		from-- // a page shows no simulated figures without their mark
	}
	return strings.TrimSpace(strings.Join(parts[from:], "\n\n"))
}

func (b *bench) call(ctx context.Context, args []string) (string, error) {
	cmd := exec.CommandContext(ctx, b.program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == stepsFailed {
		err = nil
	}
	if err != nil {
		return "", fmt.Errorf("bench %s: %w\n%s", strings.Join(args, " "), err, tail(stderr.String()))
	}
	return stdout.String(), nil
}

func tail(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}

// tables moves the headings of a report two levels down: they are within a
// page's section.
func tables(report string) string {
	lines := strings.Split(report, "\n")
	fence := false
	for i, line := range lines {
		if strings.HasPrefix(line, fenceEnd) {
			fence = !fence
		}
		if strings.HasPrefix(line, "#") && !fence {
			lines[i] = "#" + line
		}
	}
	return strings.Join(lines, "\n")
}
