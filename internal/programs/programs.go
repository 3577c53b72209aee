// Package programs reads what programs write that measure an engine without a
// server: llama-batched-bench, and the commands throughput, latency and startup of
// vllm bench.
//
// What goes in: a JSON object that one of them wrote. What comes out: its figures in
// base units, and what is wrong with them. It runs nothing. llama-bench has a
// package of its own, for its rows have settings.
package programs

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// Program names what wrote an object.
type Program string

// The programs.
const (
	Batched    Program = results.MethodBatchedBench
	Throughput Program = results.MethodVllmThroughput
	Latency    Program = results.MethodVllmLatency
	Startup    Program = results.MethodVllmStartup
)

// Output is what an object holds.
type Output struct {
	Measures []results.Measure
	Settings map[string]string // that hold for all of them, as the program names them
	Notes    []string          // figures that are left out, or contradict each other
}

func (out *Output) notef(format string, args ...any) {
	out.Notes = append(out.Notes, fmt.Sprintf(format, args...))
}

// readers are the programs in the order in which their objects are tried,
// each with the keys that all its objects have.
var readers = []struct {
	program Program
	keys    string
	read    func([]byte) (Output, error)
}{
	{Batched, "pp tg pl speed_pp speed_tg", readBatched},
	{Throughput, "elapsed_time num_requests requests_per_second tokens_per_second", readThroughput},
	{Latency, "avg_latency latencies percentiles", readLatency},
	{Startup, "avg_cold_startup_time avg_warm_startup_time", readStartup},
}

// Of says which program wrote an object, by its keys; "": none of these.
func Of(has func(keys ...string) bool) Program {
	for _, r := range readers {
		if has(strings.Fields(r.keys)...) {
			return r.program
		}
	}
	return ""
}

// Read reads an object of a program. What is not a figure is noted; the error is
// about an object without one.
func Read(program Program, object []byte) (Output, error) {
	for _, r := range readers {
		if r.program != program {
			continue
		}
		out, err := r.read(object)
		if err == nil && len(out.Measures) == 0 {
			err = fmt.Errorf("no figure of %s: %s", program, strings.Join(out.Notes, "; "))
		}
		return out, err
	}
	return Output{}, fmt.Errorf("unknown program %q", program)
}

// number is a figure of an object; null where there is none that can be.
type number struct{ value *float64 }

// UnmarshalJSON takes null for none, and what is not a number for none either:
// Python writes NaN.
func (n *number) UnmarshalJSON(data []byte) error {
	var v float64
	if json.Unmarshal(data, &v) == nil && string(data) != "null" && !math.IsInf(v, 0) && v >= 0 {
		n.value = &v
	}
	return nil
}

// add adds a figure of n samples, or a note where it has no value.
func (out *Output) add(m results.Measure, v number) {
	if v.value == nil {
		out.notef("%s is not a number; it is left out", m.Title)
		return
	}
	m.Value = v.value
	out.Measures = append(out.Measures, m)
}

// addSamples adds the mean of a list, and says where a stated one differs.
func (out *Output) addSamples(m results.Measure, stated number, samples []number) {
	var values []float64
	for _, s := range samples {
		if s.value != nil {
			values = append(values, *s.value)
		}
	}
	if len(values) < len(samples) {
		out.notef("%s: %d of %d samples are not numbers; they are left out", m.Title, len(samples)-len(values),
			len(samples))
	}
	if len(values) == 0 {
		out.add(m, stated)
		return
	}

	mean := metrics.Mean(values)
	m.N, m.Value, m.SD = len(values), &mean, metrics.SampleStd(values)
	if stated.value != nil && differ(*stated.value, mean) {
		out.notef("%s is stated as %.4g, and the samples have a mean of %.4g", m.Title, *stated.value, mean)
	}
	out.Measures = append(out.Measures, m)
}

// differ reports whether two values that should be one are not, rounding apart.
func differ(a, b float64) bool {
	const near = 0.01
	return math.Abs(a-b) > near*math.Max(math.Abs(a), math.Abs(b))
}
