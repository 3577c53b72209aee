package llamabench

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/benchrig/bench/results"
)

// fields are the members of a row as JSON has them. Numbers may be in
// quotation marks, as they do in CSV and SQL.
type fields map[string]any

// hasField reports whether a member is in a field of the row, or follows
// from one that does.
func (f fields) hasField(name string) bool {
	counts := []string{
		"build_number", "model_size", "model_n_params", "n_batch", "n_ubatch", "n_threads", "n_gpu_layers",
		"n_prompt", "n_gen", "n_depth",
	}
	if slices.Contains(counts, name) {
		return f.isCount(name)
	}

	return slices.Contains([]string{
		"build_commit", "cpu_info", "gpu_info", "backends", "model_filename", "model_type", "model", "avg_ts",
		"stddev_ts", "samples_ns", "samples_ts", "avg_ns", "stddev_ns", "test_time", "flash_attn",
	}, name)
}

func (f fields) text(name string) string { return plain(f[name]) }

// number is a member that is a finite number, else nil.
func (f fields) number(name string) *float64 { return finite(f[name]) }

// numbers are those in a list that are finite.
func (f fields) numbers(name string) (all []float64) {
	list, _ := f[name].([]any)
	for _, value := range list {
		if v := finite(value); v != nil {
			all = append(all, *v)
		}
	}
	return all
}

// isCount reports whether a member is a whole number, or absent.
func (f fields) isCount(name string) bool {
	const largest = 1 << 53
	v := f.number(name)
	return f[name] == nil || v != nil && *v == math.Trunc(*v) && math.Abs(*v) <= largest
}

// count is a member that is a whole number, else 0.
func (f fields) count(name string) int64 {
	if v := f.number(name); v != nil && f.isCount(name) {
		return int64(*v)
	}
	return 0
}

// speedsOf are the speeds, in tokens a second, that follow from the times of the
// samples.
func speedsOf(r results.LlamaBenchRow) (all []float64) {
	for _, s := range r.SamplesS {
		if s > 0 {
			all = append(all, float64(r.Prompt+r.Generated)/s)
		}
	}
	return all
}

func finite(value any) *float64 {
	switch v := value.(type) {
	case float64:
		return &v
	case string:
		number, err := strconv.ParseFloat(v, 64)
		if err == nil && !math.IsNaN(number) && !math.IsInf(number, 0) {
			return &number
		}
	}
	return nil
}

// plain is a value as llama-bench's table shows it: 1 and 0 for true and false.
func plain(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
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

	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}
