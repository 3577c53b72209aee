package calibrate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// Serve is the feeder's process: it prints its address as a line on out and
// feeds until in ends or ctx does, so that it does not outlive its starter.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	return feed(ctx, func(addr string) { fmt.Fprintln(out, addr) })
}

// feederProcess is a feeder that was started.
type feederProcess struct {
	addr string
	cmd  *exec.Cmd
	in   io.Closer
}

func startFeeder(cmd *exec.Cmd) (*feederProcess, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start feeder: %w", err)
	}

	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start feeder: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start feeder: %w", err)
	}

	f := &feederProcess{cmd: cmd, in: in}
	line, err := bufio.NewReader(out).ReadString('\n')
	f.addr = strings.TrimSpace(line)
	if err != nil || f.addr == "" {
		return nil, errors.Join(fmt.Errorf("start feeder: it gave no address: %w", err), f.stop())
	}

	return f, nil
}

// stop ends the feeder and waits for it.
func (f *feederProcess) stop() error {
	_ = f.in.Close()
	if err := f.cmd.Wait(); err != nil {
		return fmt.Errorf("feeder: %w", err)
	}
	return nil
}
