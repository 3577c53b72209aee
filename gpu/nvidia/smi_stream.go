package nvidia

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/benchrig/bench/gpu/device"
	"github.com/benchrig/bench/internal/proc"
)

// smiSettle is for how long the readings of a new nvidia-smi are left out on
// a GPU without persistence mode: the call itself wakes the GPU, which then
// reports full load and high power for a moment, and the mean of the last
// second is one of the time before.
const smiSettle = 2 * time.Second

// smiStream is a running nvidia-smi that writes a round of rows, one for each
// GPU, again and again. It ends by itself when nobody reads what it writes.
type smiStream struct {
	rounds chan []device.Reading // holds the newest round that nobody took
	ended  chan struct{}
	err    error // why it ended; valid when ended is closed
	cancel context.CancelFunc
	pid    int
	spent  atomic.Int64 // CPU time, when it has ended
}

// startSMIStream starts the program. It continues after ctx has ended.
func startSMIStream(ctx context.Context, fields []string, period time.Duration, devices []device.Device) (*smiStream,
	error,
) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	argv := append(smiArgv(fields), "-lms", strconv.FormatInt(period.Milliseconds(), 10))
	command := exec.CommandContext(ctx, argv[0], argv[1:]...)
	device.AskToEnd(command)
	stdout, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		cancel()
		return nil, smiError(nil, err)
	}

	s := &smiStream{
		rounds: make(chan []device.Reading, 1), ended: make(chan struct{}), cancel: cancel,
		pid: command.Process.Pid,
	}
	go func() {
		defer close(s.ended)
		rounds := smiRounds{devices: devices, began: time.Now(), emit: s.put}
		readErr := rounds.readAll(stdout)
		cancel() // a tool that writes nonsense need not go on
		err := command.Wait()
		s.spent.Store(int64(device.CPUOf(command.ProcessState)))
		s.err = rounds.failure(readErr, err)
	}()
	return s, nil
}

// put keeps the newest round.
func (s *smiStream) put(round []device.Reading) {
	select {
	case <-s.rounds:
	default:
	}
	s.rounds <- round
}

// next waits for a round that is not older than limit.
func (s *smiStream) next(ctx context.Context, oldest, patience time.Duration) ([]device.Reading, error) {
	over := time.After(patience)
	for {
		select {
		case round := <-s.rounds:
			if time.Since(round[0].At) <= oldest {
				return round, nil
			}
		case <-s.ended:
			return nil, s.err
		case <-over:
			return nil, fmt.Errorf("nvidia-smi: no line for %v", patience)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// close ends the program and waits until it has, for a moment: one that hangs
// in the driver cannot be ended.
func (s *smiStream) close() {
	s.cancel()
	select {
	case <-s.ended:
	case <-time.After(2 * time.Second):
	}
}

// cpu is the CPU time that the program took so far.
func (s *smiStream) cpu() time.Duration {
	select {
	case <-s.ended:
		return time.Duration(s.spent.Load())
	default:
		return processCPU(s.pid)
	}
}

// processCPU reads the CPU time of another process; 0 if it cannot.
func processCPU(pid int) time.Duration {
	p, err := proc.System.Process(pid)
	if err != nil {
		return 0
	}
	return p.CPU
}

// smiRounds puts lines together to rounds of all GPUs.
type smiRounds struct {
	devices []device.Device
	began   time.Time
	emit    func([]device.Reading)

	names []string
	round []device.Reading
	last  int // index of the last row; -1 before the first
	words string
}

func (r *smiRounds) readAll(from io.Reader) error {
	lines := bufio.NewScanner(from)
	r.last = -1
	for lines.Scan() {
		if err := r.line(lines.Text(), time.Now()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// line takes one line that came at a moment.
func (r *smiRounds) line(text string, at time.Time) error {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	if r.names == nil {
		if r.names = smiHeader(text); r.names == nil {
			return fmt.Errorf("nvidia-smi: %s", device.Clip(text))
		}
		return nil
	}

	if slices.Equal(smiHeader(text), r.names) { // printed again before each round
		r.flush()
		return nil
	}
	if row, err := newSMIRow(r.names, text); err == nil {
		r.add(row, at)
	} else { // a message among the rows: a GPU was lost, say
		r.words = device.Clip(text)
		r.flush()
	}

	return nil
}

func (r *smiRounds) add(row smiRow, at time.Time) {
	index := len(r.round)
	if n := row.number("index"); n != nil {
		index = int(*n)
	}
	if index <= r.last { // the round before lacked a GPU
		r.flush()
	}

	r.last = index
	if row.text("persistence_mode") != "Disabled" || at.Sub(r.began) >= smiSettle {
		r.round = append(r.round, smiReading(row, at, index, r.devices))
	}

	expected := len(r.devices)
	if n := row.number("count"); n != nil {
		expected = int(*n)
	}
	if expected == 0 || index >= expected-1 {
		r.flush()
	}
}

func (r *smiRounds) flush() {
	if len(r.round) > 0 {
		r.emit(r.round)
	}
	r.round, r.last = nil, -1
}

// failure words why the program ended.
func (r *smiRounds) failure(read, wait error) error {
	switch {
	case read != nil && strings.HasPrefix(read.Error(), "nvidia-smi: "):
		return read
	case r.words != "":
		return fmt.Errorf("nvidia-smi: it ended: %s", r.words)
	}
	if err := errors.Join(read, wait); err != nil {
		return fmt.Errorf("nvidia-smi: it ended: %w", err)
	}
	return errors.New("nvidia-smi: it ended")
}
