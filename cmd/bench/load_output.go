package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/vllmcli"
	"github.com/benchrig/bench/report"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// printLoad prints the result block on stdout, and below it what is to be
// known about the figures.
func printLoad(e env, f *vllmcli.Flags, r *results.Result) error {
	shown, err := f.ShownMetrics()
	if err != nil {
		return usageError(err)
	}
	compat := results.Generation(f.Dataset.Compat)
	if compat == "" {
		err = report.Block(e.stdout, r, shown...)
	} else {
		err = report.CompatBlock(e.stdout, r, compat, shown...)
	}
	if err != nil {
		return err
	}
	return report.Remarks(e.stdout, r, table.Options{Width: e.width, Color: e.width > 0})
}

// saveLoad writes the result as vLLM's client does.
func saveLoad(e env, f *vllmcli.Flags, r *results.Result, records []results.Record) error {
	if !f.SaveResult && !f.AppendResult {
		return nil
	}
	data, path, err := savedLoad(f, r, records)
	if err != nil {
		return err
	}
	if dir := filepath.Dir(path); dir != "." {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("write result: %w", err)
		}
	}
	mode := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if f.AppendResult {
		mode = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	}
	file, err := os.OpenFile(path, mode, 0o644)
	if err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	if at, err := file.Seek(0, 2); err == nil && at > 0 {
		data = append([]byte("\n"), data...) // objects of an appended file stand on lines of their own
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	fmt.Fprintf(e.Stderr, "result: %s\n", path)
	return nil
}

func savedLoad(f *vllmcli.Flags, r *results.Result, records []results.Record) (data []byte, path string, err error) {
	o := results.VLLMOptions{Detailed: f.SaveDetailed, Generation: results.Generation(f.Dataset.Compat), Backend: f.Backend}
	if f.Label != "" {
		o.Label = &f.Label
	}
	if id := f.Dataset.Tokenizer; id != "none" {
		if id == "" {
			id = r.Servers[0].Model
		}
		o.TokenizerID = &id
	}
	if o.Metadata, err = f.MetadataPairs(); err != nil {
		return nil, "", usageError(err)
	}
	if o.Metrics, err = f.ShownMetrics(); err != nil {
		return nil, "", usageError(err)
	}
	data, err = results.VLLMJSONWith(r, records, o)
	return data, f.ResultPath(r.Servers[0].Model, time.Now()), err
}

// loadProgress is the progress of bench load on stderr: one line that is
// rewritten on a terminal, else one every ten seconds.
type loadProgress struct {
	e        env
	quiet    bool
	last     time.Time
	anything bool
}

func newLoadProgress(e env, quiet bool) *loadProgress {
	return &loadProgress{e: e, quiet: quiet, last: time.Now()}
}

func (p *loadProgress) update(u load.Progress) {
	if p.quiet || !p.e.errTTY && time.Since(p.last) < plainPeriod {
		return
	}
	p.last, p.anything = time.Now(), true
	text := progressText(u)
	if p.e.errTTY {
		fmt.Fprintf(p.e.Stderr, "\r\x1b[K%s", text)
		return
	}
	fmt.Fprintln(p.e.Stderr, text)
}

func (p *loadProgress) end() {
	if p.anything && p.e.errTTY {
		fmt.Fprintln(p.e.Stderr)
	}
}

// progressText is how far a pass is, in a line.
func progressText(u load.Progress) string {
	total := ""
	if u.Total > 0 {
		total = fmt.Sprintf("/%d", u.Total)
	}
	return fmt.Sprintf("%d%s requests, %d in flight, %d failed, %d chunks, %.0f s",
		u.Completed+u.Failed, total, u.InFlight, u.Failed, u.OutputChunks, u.Elapsed.Seconds())
}
