package calibrate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// RivalOptions say how to measure another client against a feeder.
type RivalOptions struct {
	Options

	// Command is the client's, in which words such as {url} are replaced.
	Command  []string
	Requests int // for each stream; 1
}

// Said are figures as a client gives them, in seconds and tokens a second; nil: it does not.
type Said struct {
	TTFTP50, TTFTP99, ITLP50, ITLP99, E2ELP50, TokensPerS *float64
}

// rivalRow is a client at one number of streams.
type rivalRow struct {
	Streams int
	Truth   Truth
	Said    Said
	Failed  string // why there are no figures; "": there are
}

// rivalTime is what a client has for one number of streams, beside the length of its
// answers.
const rivalTime = 5 * time.Minute

// measureRival has the client's command drive a feeder at each number of streams, and sets what
// it says beside what the feeder knows.
func measureRival(ctx context.Context, o RivalOptions) (rows []rivalRow, err error) {
	o.Options = o.filled()
	o.Requests = max(o.Requests, 1)
	if o.Feeder == nil || len(o.Command) == 0 {
		return nil, errors.New("calibrate: no feeder or no command given")
	}
	if err := raiseFileLimit(slices.Max(o.Widths)); err != nil {
		return nil, err
	}

	feeder, err := startFeeder(o.Feeder(ctx))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, feeder.stop()) }()

	for _, width := range o.Widths {
		o.Said(fmt.Sprintf("%d streams by %s", width, o.Command[0]))
		row, err := o.drive(ctx, feeder, width)
		if err != nil {
			return rows, fmt.Errorf("%d streams: %w", width, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// CompareClient measures a client's command line and prints what it says beside the
// truth.
func CompareClient(ctx context.Context, out io.Writer, o Options, line string) error {
	words, err := splitCommand(line)
	if err != nil {
		return err
	}
	rows, err := measureRival(ctx, RivalOptions{Options: o, Command: words})
	if err != nil {
		return err
	}
	return writeRivals(out, rows)
}

// drive runs the command once. Only what keeps every further one from being measured is
// an error.
func (o RivalOptions) drive(ctx context.Context, f *feederProcess, width int) (row rivalRow, err error) {
	row.Streams = width
	dir, err := os.MkdirTemp("", "bench-client-")
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	p := o.pace(width)
	if err := f.begin(ctx, p); err != nil {
		return row, err
	}
	output, failed := o.run(ctx, o.words(f.addr, p, width, dir), dir)
	if ctx.Err() != nil {
		return row, ctx.Err()
	}
	if row.Truth, err = f.truth(ctx, width*o.Requests); err != nil {
		return row, err
	}

	files, err := filesOf(dir)
	if err != nil {
		return row, err
	}
	files[outputName] = output
	if failed == nil {
		row.Said, failed = said(files)
	}
	if failed == nil && row.Truth.Requests == 0 {
		failed = errors.New("the feeder got no request: does the command have {url}, or {host} and {port}?")
	}
	if failed != nil {
		row.Failed = failed.Error()
	}
	return row, nil
}

// words are the command's for one number of streams.
func (o RivalOptions) words(addr string, p pace, width int, dir string) []string {
	host, port, _ := net.SplitHostPort(addr)
	replace := strings.NewReplacer(
		"{url}",
		"http://"+addr+p.path(),
		"{host}",
		host,
		"{port}",
		port,
		"{streams}",
		strconv.Itoa(width),
		"{requests}",
		strconv.Itoa(width*o.Requests),
		"{tokens}",
		strconv.Itoa(p.tokens),
		"{model}",
		"calibrate",
		"{dir}",
		dir,
	)

	words := make([]string, len(o.Command))
	for i, word := range o.Command {
		words[i] = replace.Replace(word)
	}
	return words
}

// run runs a command to its end and returns what it printed.
func (o RivalOptions) run(ctx context.Context, words []string, dir string) ([]byte, error) {
	limit := rivalTime + time.Duration(o.Requests)*time.Duration(o.Tokens)*o.Gap
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	if err == nil {
		return output.Bytes(), nil
	}
	if ctx.Err() != nil {
		err = cmp.Or(context.Cause(ctx), err)
	}
	last := strings.TrimSpace(output.String())
	last = last[strings.LastIndexByte(last, '\n')+1:]
	return output.Bytes(), fmt.Errorf("%s: %w: %s", words[0], err, last[:min(len(last), 200)])
}

// filesOf are the files directly in a folder, of plain size.
func filesOf(dir string) (map[string][]byte, error) {
	const largest = 64 << 20
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > largest {
			continue
		}
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// splitCommand cuts a command line into words as a shell does that expands nothing:
// quotes group, a backslash takes the next character as it is.
func splitCommand(line string) (words []string, err error) {
	var word strings.Builder
	within, quote, escaped := false, rune(0), false

	for _, c := range line {
		switch {
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped, within = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, within = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if within {
				words = append(words, word.String())
				word.Reset()
			}
			within = false
		default:
			word.WriteRune(c)
			within = true
		}
	}

	switch {
	case quote != 0 || escaped:
		return nil, fmt.Errorf("command %q ends within a quote, or after a backslash", line)
	case within:
		words = append(words, word.String())
	}

	if len(words) == 0 {
		return nil, errors.New("the command is empty")
	}
	return words, nil
}
