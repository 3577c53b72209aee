// Command studies runs what the pages of docs/studies show and puts the tables
// that come out into them.
//
// What goes in: pages with fences "sh run", whose bench commands are run, and
// marked places for tables of the run before them. What comes out: the pages
// with fresh tables, or with -check a word on whether they still are what a run
// gives, all figures aside. It needs a built bench and changes nothing else.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "studies:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, log io.Writer) error {
	var b bench
	fs := flag.NewFlagSet("studies", flag.ContinueOnError)
	fs.StringVar(&b.program, "bench", "bin/bench", "the bench program")
	fs.StringVar(&b.llama, "llama", "", "folder of a real llama-server and llama-bench; without one the tables that "+
		"need it stay as they are")
	only := fs.String("only", "", "part of the name of the pages to take")
	check := fs.Bool("check", false, "change no page: say whether each is what a run gives, figures aside")
	if err := fs.Parse(args); err != nil {
		return err
	}

	var err error
	if b.program, err = filepath.Abs(b.program); err != nil {
		return err
	}
	if b.out, err = os.MkdirTemp("", "studies-"); err != nil {
		return err
	}

	return b.renewAll(ctx, *only, *check, log)
}

// renewAll takes the pages whose names contain only. The results of all runs stay
// where one page failed.
func (b *bench) renewAll(ctx context.Context, only string, check bool, log io.Writer) error {
	pages, err := filepath.Glob("docs/studies/*.md")
	if err != nil {
		return err
	}

	var errs []error
	for _, path := range pages {
		if !strings.Contains(filepath.Base(path), only) {
			continue
		}
		began := time.Now()
		err := b.renew(ctx, path, check, log)
		fmt.Fprintf(log, "%-45s %5.1f s\n", path, time.Since(began).Seconds())
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", path, err))
		}
	}

	if len(errs) > 0 {
		return errors.Join(append(errs, fmt.Errorf("the results of these runs are kept in %s", b.out))...)
	}

	return os.RemoveAll(b.out)
}

// renew runs a page's commands and writes the page, or compares it.
func (b *bench) renew(ctx context.Context, path string, check bool, log io.Writer) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	defer b.stop()

	fresh, err := rewrite(string(old), func(c command) (string, error) { return b.do(ctx, c, log) })
	if err != nil || fresh == string(old) {
		return err
	}
	if !check {
		return os.WriteFile(path, []byte(fresh), 0o644)
	}
	if diff := difference(string(old), fresh); diff != "" {
		return fmt.Errorf("is not what a run gives:\n%s", diff)
	}

	return nil
}
