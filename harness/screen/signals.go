package screen

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/results"
)

// watchSignals gives a context that the first SIGINT or SIGTERM ends; the
// second asks to kill now. SIGHUP (a closed terminal) and SIGPIPE (nobody reads our
// output) are noted and do not end the run. They are caught, not ignored: an
// ignored signal would stay ignored in the servers that bench starts.
func watchSignals(ctx context.Context, stderr io.Writer, log zerolog.Logger, killNow func()) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGQUIT, unix.SIGHUP, unix.SIGPIPE)

	done := make(chan struct{})
	go func() {
		asked := 0
		for {
			select {
			case <-done:
				return
			case sig := <-signals:
				name := unix.SignalName(sig.(unix.Signal))
				if name == "SIGHUP" || name == "SIGPIPE" {
					log.Info().Str("signal", name).Msg("the run continues")
					continue
				}

				asked++
				log.Warn().Str("signal", name).Int("times", asked).Msg("asked to stop")
				if asked == 1 {
					fmt.Fprintf(stderr, "\nbench: %s: stopping cleanly; once more to kill the servers immediately\n",
						name)
					cancel(results.Failf(results.FailInterrupted, "stopped by %s", name))
					continue
				}
				if asked == 2 {
					fmt.Fprintf(stderr, "\nbench: %s: killing the servers\n", name)
					killNow()
				}
			}
		}
	}()

	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}
