package calibrate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// controlLimit bounds a question to a feeder.
const controlLimit = 30 * time.Second

// begin has the feeder forget what it served, and answer requests that name no pace
// at this one.
func (f *feederProcess) begin(ctx context.Context, p pace) error {
	_, err := f.ask(ctx, beginPath+p.path())
	return err
}

// truth is what the feeder did since begin, for the n requests that came closest together.
func (f *feederProcess) truth(ctx context.Context, n int) (t Truth, err error) {
	text, err := f.ask(ctx, truthPath+strconv.Itoa(n))
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	return t, err
}

func (f *feederProcess) ask(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, controlLimit)
	defer cancel()

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+f.addr+path, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask feeder: %w", err)
	}
	req.Close = true
	resp, err := (&http.Transport{}).RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("ask feeder: %w", err)
	}
	defer resp.Body.Close()
	return io.ReadAll(io.LimitReader(resp.Body, 1<<20))
}
