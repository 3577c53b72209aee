package record

import (
	"context"
	"net"
	"net/http"
	"time"
)

// drain is how long requests under way may take once the recording ends.
const drain = 10 * time.Second

// Serve records what comes to the listener until ctx ends, lets requests under way
// end, and returns what the recording holds. The error is that of the listener or
// of the writer; what was recorded before it is written.
func (r *Recorder) Serve(ctx context.Context, listener net.Listener) (Counts, error) {
	server := &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		counts, _ := r.Counts()
		return counts, err
	case <-ctx.Done():
	}

	limited, stop := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer stop()
	if err := server.Shutdown(limited); err != nil {
		_ = server.Close() // they had their time
	}

	return r.Counts()
}
