package store

import (
	"iter"

	"github.com/benchrig/bench/results"
)

// ReadTelemetry yields what GPUs and host said beside the pass of the step in
// folder dir, in the order it was written; see ReadSamples.
func ReadTelemetry(dir string) iter.Seq2[results.TelemetrySample, error] {
	return ReadSamples[results.TelemetrySample](dir, results.TelemetryName)
}

// ReadSamples yields the lines of the file name in folder dir, compressed or
// plain, as a SampleWriter wrote them. A last line that was cut by a kill is
// left out. A line that is not a sample is an error value and does not end the
// sequence; an error of reading does. A step without the file yields none.
func ReadSamples[T any](dir, name string) iter.Seq2[T, error] {
	return jsonLines[T](dir, name, "samples")
}
