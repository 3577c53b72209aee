package llamabench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/results"
)

// known are the keys that have fields of their own.
type known struct {
	Commit     string     `json:"build_commit"`
	Number     int        `json:"build_number"`
	CPU        string     `json:"cpu_info"`
	GPU        string     `json:"gpu_info"`
	Backends   string     `json:"backends"`
	File       string     `json:"model_filename"`
	Type       string     `json:"model_type"`
	Model      string     `json:"model"` // in tables that people made
	Size       int64      `json:"model_size"`
	Parameters int64      `json:"model_n_params"`
	Batch      int        `json:"n_batch"`
	MicroBatch int        `json:"n_ubatch"`
	Threads    int        `json:"n_threads"`
	GPULayers  *int       `json:"n_gpu_layers"`
	Prompt     int        `json:"n_prompt"`
	Generated  int        `json:"n_gen"`
	Depth      int        `json:"n_depth"`
	TokensPerS *float64   `json:"avg_ts"`
	Deviation  *float64   `json:"stddev_ts"`
	SamplesNS  []*float64 `json:"samples_ns"`
	SamplesTS  []*float64 `json:"samples_ts"`
}

// own are the keys that stand in fields of a row, or follow from them.
func own() []string {
	return []string{
		"build_commit", "build_number", "cpu_info", "gpu_info", "backends", "model_filename", "model_type", "model",
		"model_size", "model_n_params", "n_batch", "n_ubatch", "n_threads", "n_gpu_layers", "n_prompt", "n_gen",
		"n_depth", "avg_ts", "stddev_ts", "samples_ns", "samples_ts", "avg_ns", "stddev_ns", "test_time", "flash_attn",
	}
}

// nested is where a program that wraps llama-bench keeps its row.
const nested = "bench_raw"

// parseJSON reads every JSON object that is a row, alone on its line, within an
// array or within another object, whatever stands around it.
func parseJSON(output []byte) Output {
	var out Output
	output = WithoutNaN(output)
	for at := 0; at < len(output); {
		next := bytes.IndexAny(output[at:], "{[")
		if next < 0 {
			break
		}
		at += next

		decoder := json.NewDecoder(bytes.NewReader(output[at:]))
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			out.noteBroken(output, at)
			at++ // a bracket of some log line, or an array that was cut off
			continue
		}
		at += int(decoder.InputOffset())
		out.add(raw)
	}

	return out
}

// noteBroken notes an object that begins like a row and does not end.
func (out *Output) noteBroken(output []byte, at int) {
	const look = 200
	begin := output[at:min(at+look, len(output))]
	inner := bytes.TrimLeft(begin[1:], " \t\r\n")
	if begin[0] == '{' && bytes.HasPrefix(inner, []byte{'"'}) &&
		(bytes.Contains(begin, []byte(`"build_commit"`)) || bytes.Contains(begin, []byte(`"avg_ts"`))) {
		line := 1 + bytes.Count(output[:at], []byte("\n"))
		out.Notes = append(out.Notes, fmt.Sprintf("line %d: a test that is not complete; it is left out", line))
	}
}

func (out *Output) add(raw json.RawMessage) {
	if raw[0] == '[' {
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) == nil {
			for _, item := range items {
				out.add(item)
			}
		}
		return
	}

	var all map[string]json.RawMessage
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &all) != nil {
		return
	}
	if inner, ok := all[nested]; ok && len(inner) > 0 {
		out.addNested(all, inner)
		return
	}

	_, speed := all["avg_ts"]
	_, prompt := all["n_prompt"]
	_, generated := all["n_gen"]
	if speed && (prompt || generated) {
		out.addRow(raw)
	}
}

// addNested reads the rows within another program's object. What that says of
// itself, such as the build that it ran, tells its rows apart.
func (out *Output) addNested(around map[string]json.RawMessage, inner json.RawMessage) {
	first := len(out.Rows)
	out.add(inner)
	for i := first; i < len(out.Rows); i++ {
		for _, name := range []string{"build", "fa", "b", "hipblaslt"} {
			var value any
			if raw, ok := around[name]; ok && json.Unmarshal(raw, &value) == nil && plain(value) != "" {
				out.Rows[i].Rest["run_"+name] = plain(value)
			}
		}
	}
}

func (out *Output) addRow(raw json.RawMessage) {
	var all map[string]any
	var k known
	if err := json.Unmarshal(raw, &all); err != nil {
		out.Notes = append(out.Notes, "a test that cannot be read: "+err.Error())
		return
	}
	if err := json.Unmarshal(raw, &k); err != nil {
		out.Notes = append(out.Notes, fmt.Sprintf("test %s: %v; it is left out",
			results.TestName(k.Prompt, k.Generated, k.Depth), err))
		return
	}

	if k.TokensPerS == nil || *k.TokensPerS < 0 {
		mean := meanOf(k.SamplesTS)
		if mean == nil {
			out.Notes = append(out.Notes, fmt.Sprintf("test %s: its speed avg_ts is not a number, and there are no "+
				"samples; it is left out",
				results.TestName(k.Prompt, k.Generated, k.Depth)))
			return
		}
		out.Notes = append(out.Notes, fmt.Sprintf("test %s: avg_ts is not a number; the speed is the mean of "+
			"samples_ts",
			results.TestName(k.Prompt, k.Generated, k.Depth)))
		k.TokensPerS = mean
	}

	row := k.row(all)
	if _, stated := all["stddev_ts"]; !stated {
		row.TokensPerSD = deviation(valuesOf(k.SamplesTS))
	} else if note := k.mendDeviation(&row); note != "" {
		out.Notes = append(out.Notes, fmt.Sprintf("test %s: %s", row.Test, note))
	}

	out.Rows = append(out.Rows, row)
}

func (k known) row(all map[string]any) results.LlamaBenchRow {
	r := results.LlamaBenchRow{
		Test: results.TestName(k.Prompt, k.Generated,
			k.Depth), Build: k.Commit, CPU: k.CPU, GPU: k.GPU, Backend: k.Backends,
		File: k.File, Model: k.Type, SizeBytes: k.Size, Parameters: k.Parameters,
		Threads: k.Threads, GPULayers: k.GPULayers, Batch: k.Batch, MicroBatch: k.MicroBatch,
		FlashAttn: plain(all["flash_attn"]),
		Prompt:    k.Prompt, Generated: k.Generated, Depth: k.Depth, TokensPerS: *k.TokensPerS,
		TokensPerSD: k.Deviation,
		Rest:        map[string]string{},
	}

	if r.Model == "" {
		r.Model = k.Model
	}
	if k.Number != 0 {
		r.Build = fmt.Sprintf("%s (%d)", k.Commit, k.Number)
	}

	for _, ns := range k.SamplesNS {
		if ns != nil {
			r.SamplesS = append(r.SamplesS, *ns/1e9)
		}
	}

	for _, key := range slices.Sorted(maps.Keys(all)) {
		if text := plain(all[key]); !slices.Contains(own(), key) && text != "" {
			r.Rest[key] = text
		}
	}

	return r
}

// mendDeviation holds the printed deviation against the samples: llama-bench
// takes it from the difference of two large numbers, which leaves nan or
// nonsense where the samples are close together.
func (k known) mendDeviation(r *results.LlamaBenchRow) (note string) {
	samples := valuesOf(k.SamplesTS)
	again := deviation(samples)
	switch {
	case k.Deviation == nil && again == nil:
		return "stddev_ts is not a number, and one sample has no deviation"
	case k.Deviation == nil:
		r.TokensPerSD = again
		return fmt.Sprintf("stddev_ts is not a number; %.4g is that of samples_ts", *again)
	case *k.Deviation < 0:
		r.TokensPerSD = again
		return fmt.Sprintf("stddev_ts is %g, which cannot be", *k.Deviation)
	case again == nil:
		return ""
	}

	const share, rounding = 0.02, 1e-5 // of the deviation; of the speed, for samples that were printed with few digits
	if math.Abs(*k.Deviation-*again) <= share**again+rounding*r.TokensPerS {
		return ""
	}

	r.TokensPerSD = again
	return fmt.Sprintf("stddev_ts is %.4g, and samples_ts have %.4g, which is used", *k.Deviation, *again)
}

func valuesOf(list []*float64) []float64 {
	var values []float64
	for _, v := range list {
		if v != nil {
			values = append(values, *v)
		}
	}
	return values
}

func meanOf(list []*float64) *float64 {
	values := valuesOf(list)
	if values == nil {
		return nil
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	sum /= float64(len(values))
	return &sum
}

// plain is a value as llama-bench's table shows it: 1 and 0 for true and false.
func plain(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case bool:
		if v {
			return "1"
		}
		return "0"
	case float64:
		if v == math.Trunc(v) {
			return strconv.FormatFloat(v, 'f', 0, 64)
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}

	return ""
}

// JSONLines asks llama-bench for its most exact form: one object a line, each
// complete as soon as its test is.
func JSONLines() []string { return strings.Fields("-o jsonl") }
