package results

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
)

// ReadTelemetry yields what GPUs and host said beside the pass of the step in
// folder dir, in the order it was written; see ReadSamples.
func ReadTelemetry(dir string) iter.Seq2[TelemetrySample, error] {
	return ReadSamples[TelemetrySample](dir, TelemetryName)
}

// ReadSamples yields the lines of the file name in folder dir, compressed or
// plain, as a SampleWriter wrote them. A last line that was cut by a kill is
// left out. A line that is no sample is an error value and does not end the
// sequence; an error of reading does. A step without the file yields none.
func ReadSamples[T any](dir, name string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		in, err := openRecords(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(none, fmt.Errorf("read samples: %w", err))
			return
		}
		defer func() { _ = in.Close() }()
		decodeSamples(in, yield)
	}
}

func decodeSamples[T any](r io.Reader, yield func(T, error) bool) {
	var none T
	in := bufio.NewReaderSize(r, 64<<10)
	for line := 1; ; line++ {
		raw, readErr := in.ReadBytes('\n')
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			yield(none, fmt.Errorf("read samples: line %d: %w", line, readErr))
			return
		}
		if len(raw) > 0 {
			var sample T
			err := json.Unmarshal(raw, &sample)
			switch {
			case err == nil:
				if !yield(sample, nil) {
					return
				}
			case readErr != nil: // cut by a kill
			case !yield(none, fmt.Errorf("read samples: line %d: %w", line, err)):
				return
			}
		}
		if readErr != nil {
			return
		}
	}
}
