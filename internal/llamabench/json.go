package llamabench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/nanjson"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// nested is where a program that wraps llama-bench keeps its row.
const nested = "bench_raw"

// deepest is how many objects and arrays around a row are looked through.
const deepest = 16

// Holds reports whether a JSON object is a row or has rows somewhere in it.
func Holds(object []byte) bool {
	return bytes.Contains(object, []byte(`"avg_ts"`)) || bytes.Contains(object, []byte(`"`+nested+`"`))
}

// parseJSON reads every JSON object that is a row, alone on its line, within an
// array or within another object, whatever is around it.
func parseJSON(output []byte) Output {
	var out Output
	output = nanjson.ToNull(output)
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
		if Holds(raw) {
			out.add(raw, 0)
		}
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
		out.notef("line %d: a test that is not complete; it is left out", line)
	}
}

func (out *Output) notef(format string, args ...any) {
	out.Notes = append(out.Notes, fmt.Sprintf(format, args...))
}

// add reads the rows in a value: the object that is one, the text of a
// program's output, whatever an array or another object holds.
func (out *Output) add(raw json.RawMessage, depth int) {
	if depth > deepest || !Holds(raw) && depth > 0 && raw[0] != '"' {
		return
	}

	switch raw[0] {
	case '[':
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) == nil {
			for _, item := range items {
				out.add(item, depth+1)
			}
		}
	case '{':
		out.addObject(raw, depth)
	}
}

func (out *Output) addObject(raw json.RawMessage, depth int) {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return
	}

	if inner, ok := members[nested]; ok {
		out.addNested(members, inner, depth)
		return
	}

	_, speed := members["avg_ts"]
	_, prompt := members["n_prompt"]
	_, generated := members["n_gen"]
	if speed && (prompt || generated) {
		out.addRow(raw)
		return
	}

	for _, name := range slices.Sorted(maps.Keys(members)) {
		out.add(members[name], depth+1)
	}
}

// addNested reads the rows within another program's object, or the text that
// llama-bench printed. What that program says about itself, such as the build that
// it ran, distinguishes its rows.
func (out *Output) addNested(around map[string]json.RawMessage, inner json.RawMessage, depth int) {
	first := len(out.Rows)
	var printed string
	if json.Unmarshal(inner, &printed) == nil {
		if within, err := Parse([]byte(printed)); err == nil {
			out.Rows, out.Notes = append(out.Rows, within.Rows...), append(out.Notes, within.Notes...)
		}
	} else {
		out.add(inner, depth+1)
	}

	if len(out.Rows) == first {
		out.notef("%s has no test that can be read; it is left out", nested)
	}
	for i := first; i < len(out.Rows); i++ {
		for name, raw := range around {
			var value any
			if json.Unmarshal(raw, &value) == nil && tellsApart(name, value) && plain(value) != "" {
				out.Rows[i].Rest["run_"+name] = plain(value)
			}
		}
	}
}

// tellsApart reports whether a member beside a nested row is a setting of that
// run: words and switches are, numbers only under the names of settings.
func tellsApart(name string, value any) bool {
	switch value.(type) {
	case bool:
		return true
	case string:
		return name != nested && name != "mode" && !strings.Contains(name, "time") && !strings.Contains(name, "date")
	case float64:
		return name == "fa" || name == "b" || name == "hipblaslt"
	}
	return false
}

func (out *Output) addRow(raw json.RawMessage) {
	var f fields
	if err := json.Unmarshal(raw, &f); err != nil {
		out.notef("a test that cannot be read: %v", err)
		return
	}

	row, err := f.row()
	if err != nil {
		out.notef("%v; it is left out", err)
		return
	}

	for _, note := range f.mend(&row) {
		out.notef("test %s: %s", row.Test, note)
	}
	if math.IsNaN(row.TokensPerS) {
		out.notef("test %s: its speed avg_ts is not a number, and there are no samples; it is left out", row.Test)
		return
	}
	out.Rows = append(out.Rows, row)
}

// row has everything but the speed's doubts. Its speed is NaN where none is
// stated.
func (f fields) row() (results.LlamaBenchRow, error) {
	r := results.LlamaBenchRow{
		Build: f.text("build_commit"), CPU: f.text("cpu_info"), GPU: f.text("gpu_info"), Backend: f.text("backends"),
		File: f.text("model_filename"), Model: f.text("model_type"), FlashAttn: plain(f["flash_attn"]),
		SizeBytes: f.count("model_size"), Parameters: f.count("model_n_params"),
		Threads: int(f.count("n_threads")), Batch: int(f.count("n_batch")), MicroBatch: int(f.count("n_ubatch")),
		Prompt: int(f.count("n_prompt")), Generated: int(f.count("n_gen")), Depth: int(f.count("n_depth")),
		TokensPerS: math.NaN(), TokensPerSD: f.number("stddev_ts"),
		Rest: map[string]string{},
	}

	for _, name := range []string{"n_prompt", "n_gen", "n_depth"} {
		if !f.isCount(name) || f.count(name) < 0 {
			return r, fmt.Errorf("a test whose %s is %s, not a number of tokens", name, plain(f[name]))
		}
	}
	if r.Prompt+r.Generated == 0 {
		return r, errors.New("a test of no tokens: n_prompt and n_gen are 0")
	}

	r.Test = results.TestName(r.Prompt, r.Generated, r.Depth)
	if speed := f.number("avg_ts"); speed != nil && *speed >= 0 {
		r.TokensPerS = *speed
	}
	if r.Model == "" {
		r.Model = f.text("model") // in tables that people made
	}
	if n := f.count("build_number"); n != 0 {
		r.Build = fmt.Sprintf("%s (%d)", r.Build, n)
	}
	if f["n_gpu_layers"] != nil && f.isCount("n_gpu_layers") {
		r.GPULayers = new(int(f.count("n_gpu_layers")))
	}
	for _, ns := range f.numbers("samples_ns") {
		r.SamplesS = append(r.SamplesS, ns/1e9)
	}
	for name, value := range f {
		if text := plain(value); text != "" && !f.hasField(name) {
			r.Rest[name] = text
		}
	}

	return r, nil
}

// mend holds the printed speed and deviation against the samples: llama-bench
// takes the deviation from the difference of two large numbers, which leaves
// nan or nonsense where the samples are close together. Speeds that follow from
// times stand in for what is missing, and contradict nothing.
func (f fields) mend(r *results.LlamaBenchRow) (notes []string) {
	listed := f.numbers("samples_ts")
	samples := listed
	if samples == nil {
		samples = speedsOf(*r)
	}

	const near = 0.01 // of the speed
	again := metrics.Mean(listed)
	switch {
	case math.IsNaN(r.TokensPerS) && len(samples) > 0:
		r.TokensPerS = metrics.Mean(samples)
		notes = append(notes, "avg_ts is not a number; the speed is the mean of the samples")
	case math.Abs(again-r.TokensPerS) > near*again:
		notes = append(notes, fmt.Sprintf("avg_ts is %.4g, and the samples have a mean of %.4g", r.TokensPerS, again))
	}

	if _, stated := f["stddev_ts"]; !stated {
		r.TokensPerSD = metrics.SampleStd(samples)
	} else if doubt := doubtOf(r.TokensPerSD, r.TokensPerS, listed); doubt != "" {
		r.TokensPerSD = metrics.SampleStd(samples)
		notes = append(notes, "stddev_ts is "+doubt+insteadOf(r.TokensPerSD, len(samples)))
	}

	return notes
}

// doubtOf says what is wrong with a stated deviation; "": nothing.
func doubtOf(stated *float64, speed float64, samples []float64) string {
	const share, rounding = 0.02, 1e-5 // of the deviation; of the speed, for samples that were printed with few digits
	again := metrics.SampleStd(samples)
	switch {
	case stated == nil:
		return "not a number"
	case again != nil && math.Abs(*stated-*again) > share**again+rounding*speed:
		return fmt.Sprintf("%.4g", *stated)
	case again == nil && impossible(*stated, speed, len(samples)):
		return fmt.Sprintf("%.4g, which cannot be", *stated)
	}
	return ""
}

// insteadOf says which deviation of n samples is used; nil: none.
func insteadOf(again *float64, n int) string {
	switch {
	case again != nil:
		return fmt.Sprintf("; %.4g is that of the samples", *again)
	case n == 1:
		return ", and one sample has no deviation"
	}
	return ", and there are no samples"
}
