package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/load/record"
)

const recordLong = `Record the traffic between clients and an inference server, as a proxy. The file has
the time, duration and token counts of each request, its session, and which blocks of
text it shares with others. It contains no text: blocks are hashed with a key that is
discarded at the end.

Point the clients at the printed address, and press Ctrl-C at the end. Replay with
'bench load --dataset-name sessions --dataset-path FILE'.

A session is named by --session-header; otherwise a request continues the session with
whose messages its own begin. Each request to completions is a session of its own.
Token counts are the server's. Clients that stream should ask for usage; otherwise
lengths are estimated.`

type recordOptions struct {
	out, listen, header string
}

func newRecordCommand(e env) *cobra.Command {
	var o recordOptions
	cmd := &cobra.Command{
		Use: "record URL", Short: "Record live traffic for a replay, without text", Long: recordLong,
		Example: "  bench record http://127.0.0.1:8000 --out traffic.jsonl\n" +
			"  bench load --port 8000 --dataset-name sessions --dataset-path traffic.jsonl --num-prompts 50",
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, urls []string) error { return runRecord(cmd.Context(), e, urls[0], o) },
	}
	cmd.Flags().StringVar(&o.out, "out", "", "new `file` to write (required)")
	cmd.Flags().StringVar(&o.listen, "listen", "127.0.0.1:0", "`address` to listen on; port 0: any free one")
	cmd.Flags().StringVar(&o.header, "session-header", "", "header whose value names the session of a request")
	return cmd
}

func runRecord(ctx context.Context, e env, upstream string, o recordOptions) error {
	target, err := url.Parse(upstream)
	if err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" {
		return usageError(fmt.Errorf("%q is not the address of a server: want http://HOST:PORT", upstream))
	}
	if o.out == "" {
		return usageError(errors.New("--out is missing: name the file to write"))
	}

	// The file is made last, so that a mistake leaves none.
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.listen)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	defer listener.Close()

	file, err := os.OpenFile(o.out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("record: %w; give a new file as --out", err)
	}

	fmt.Fprintf(e.stdout, "recording http://%s to %s, passing on to %s; Ctrl-C ends it\n", listener.Addr(), o.out,
		target.Redacted())
	ctx, stop := signal.NotifyContext(ctx, unix.SIGINT, unix.SIGTERM)
	defer stop()
	recorder := record.New(record.Options{Upstream: target, SessionHeader: o.header, Out: file})
	counts, err := recorder.Serve(ctx, listener)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("record: %w; what came before is in %s", err, o.out)
	}

	fmt.Fprintf(e.stdout, "%s: %s\n", o.out, counts)
	return nil
}
