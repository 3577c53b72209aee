// Package rounds carries out the rounds of a suite against a running server.
//
// Where the server is and the rounds go in; files, result blocks and a table
// come out. The server is neither started nor stopped.
package rounds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/benchrig/bench/harness/machine"
	"github.com/benchrig/bench/harness/session"
	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/harness/suite"
	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/report/detail"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/vllm"
)

// Options say where the server is and where files go.
type Options struct {
	BaseURL, Model, Tokenizer, Output string
	APIKeyEnv                         string // variable that holds the server's key
	ImageSize                         string // of vision, WIDTHxHEIGHT
	Progress                          func() Progress
}

// Progress shows how far a round is.
type Progress struct {
	Update func(load.Progress)
	End    func()
}

// Run carries out the rounds of a suite against a server. The server is found
// with Find; w gets the blocks and the table.
func (t *Target) Run(ctx context.Context, w io.Writer, rounds []suite.Round) ([]suite.Row, error) {
	if err := os.MkdirAll(t.options.Output, 0o777); err != nil {
		return nil, fmt.Errorf("write results: %w", err)
	}
	s := &runner{p: t.process, w: w, o: t.options, target: t, driver: session.NewClient(t.process.Stderr)}
	if err := s.write(suite.EngineParamsName, t.params); err != nil {
		return nil, err
	}
	return s.run(ctx, rounds)
}

// runner carries out the rounds of a suite.
type runner struct {
	p      machine.Process
	w      io.Writer
	o      Options
	target *Target
	driver session.Client
	watch  *watch
	extra  *suite.Overhead // of a request without an image; nil: not known
}

// warmupOutput bounds the answers of warm-ups, in tokens: their prompts are as
// long as the measured ones.
const warmupOutput = 16

// warmupSeed moves the prompts of the first warm-up away from all others.
const warmupSeed = 7_000_003

func (s *runner) run(ctx context.Context, rounds []suite.Round) ([]suite.Row, error) {
	memory, err := openMemory(ctx, s.p, s.target.here)
	if err != nil {
		return nil, err
	}
	defer memory.close()
	s.watch = memory.watch()

	s.warmUp(ctx, rounds)
	before := memory.read(ctx)
	rows := make([]suite.Row, len(rounds))
	for i, round := range rounds {
		rows[i] = s.round(ctx, round)
		if err := s.show(rows[i]); err != nil {
			return nil, err
		}
	}

	if before != nil {
		after := memory.read(context.WithoutCancel(ctx))
		if err := s.write(suite.MemoryUsageName, suite.MemoryUsage(before, after)); err != nil {
			return nil, err
		}
	}
	if err := suite.Table(s.w, rows); err != nil {
		return nil, err
	}

	fmt.Fprintf(s.p.Stderr, "files: %s\n", s.o.Output)
	return rows, nil
}

// warmUp sends one request as the first round that can be run has them, and
// for images one without. What goes wrong is said; the rounds will tell.
func (s *runner) warmUp(ctx context.Context, rounds []suite.Round) {
	for _, round := range rounds {
		if round.Problem != "" {
			continue
		}
		if suite.IsVision(round.Profile) {
			plain := round
			plain.Load.Dataset.Kind = "random"
			if rec := s.one(ctx, plain); rec != nil && rec.InputTokens != nil {
				s.extra = &suite.Overhead{Server: *rec.InputTokens, Text: rec.LocalInputTokens}
			}
		}
		s.one(ctx, round)
		return
	}
}

// one sends one request of a round, unmeasured; nil: it had no answer.
func (s *runner) one(ctx context.Context, round suite.Round) *results.Record {
	round.Load.NumPrompts, round.Load.Warmups, round.Load.OutputLen = 1, 0, min(round.Load.OutputLen, warmupOutput)
	round.Seed += warmupSeed
	job, _, err := s.job(ctx, round)
	if err != nil {
		fmt.Fprintf(s.p.Stderr, "warm-up: %v\n", err)
		return nil
	}

	var answer *results.Record
	_, err = s.driver.Run(ctx, job.Options, job.Prompts, func(r results.Record) error {
		answer = &r
		return nil
	})

	if err == nil && answer != nil && answer.Failure != nil {
		err = answer.Failure
	}
	if err != nil {
		fmt.Fprintf(s.p.Stderr, "warm-up: %v\n", err)
		return nil
	}

	return answer
}

func (s *runner) job(ctx context.Context, round suite.Round) (step.Job, *results.Result, error) {
	round.Load.KeepText = true // as vLLM's client saves it
	return step.OneShot{
		Driver: s.driver, Server: step.Launched{Server: s.target.server}, Counter: s.target.counter,
		Load: round.Load, Seed: round.Seed,
		Headers: s.target.headers, Body: s.target.body, WarmupOutput: warmupOutput,
	}.Job(ctx)
}

// round measures one round and writes its file. A file of that name from
// before goes first: it would pass for this round's if this one failed.
func (s *runner) round(ctx context.Context, round suite.Round) suite.Row {
	row := suite.Row{Round: round, Problem: round.Problem}
	name := round.FileName(s.target.Model)
	if err := inside.Remove(s.o.Output, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		row.Problem = fmt.Sprintf("remove the result from before: %v", err)
	}
	if ctx.Err() != nil {
		row.Problem = "interrupted"
	}
	if row.Problem != "" {
		return row
	}

	job, result, err := s.job(ctx, round)
	if err != nil {
		row.Problem = err.Error()
		return row
	}

	progress := s.o.Progress()
	job.Options.Progress = progress.Update
	records := s.watch.drive(ctx, job, result)
	progress.End()
	result.Bench, result.Simulated = s.p.Version, result.Simulated || s.target.Simulated
	row.Result = result
	if suite.IsVision(round.Profile) && s.extra != nil {
		row.Images = suite.EstimateImages(s.o.ImageSize, records, *s.extra)
	}
	if result.Failure != nil {
		row.Problem = result.Failure.Error()
	}
	if result.Figures != nil {
		if err := s.save(name, row, records); err != nil {
			row.Problem = err.Error()
		}
	}

	return row
}

func (s *runner) save(name string, row suite.Row, records []results.Record) error {
	data, err := vllm.JSON(row.Result, records, s.target.vllmOptions())
	if err != nil {
		return err
	}
	text, err := row.JSON(data)
	if err != nil {
		return err
	}
	return s.write(name, text)
}

func (s *runner) write(name string, content []byte) error {
	content = []byte(secrets.Known().Text(string(content)))
	err := inside.Replace(s.o.Output, name, func(w io.Writer) error { _, err := w.Write(content); return err })
	if err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

// show prints what one round came to.
func (s *runner) show(row suite.Row) error {
	w, l := s.w, row.Round.Load
	fmt.Fprintf(w, "%s: %d at once, %s in, %d out\n", row.Round.Profile, l.NumPrompts, suite.Tokens(l.InputLen),
		l.OutputLen)
	if row.Result != nil && row.Result.Figures != nil {
		if err := detail.Block(w, row.Result, "ttft", "tpot", "itl"); err != nil {
			return err
		}
		for _, warning := range row.Result.Warnings {
			if warning.Code != results.WarnSimulated {
				fmt.Fprintf(w, "%s: %s\n", warning.Code, warning.Message)
			}
		}
	}

	if i := row.Images; i != nil {
		fmt.Fprintf(w, "image tokens, estimated: %d, %.1f a request of %s (and %d of the chat template)\n", i.Tokens,
			i.PerPrompt(), i.Size, i.Template)
	}
	if row.Problem != "" {
		fmt.Fprintf(w, "failed: %s\n", row.Problem)
	}

	_, err := fmt.Fprintln(w)
	return err
}
