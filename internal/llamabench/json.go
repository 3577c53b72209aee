package llamabench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Parse reads rows in any of the three forms. Lines that belong to none are
// skipped; an output without a row is an error.
func Parse(output []byte) ([]Row, error) {
	rows, err := parseJSON(output)
	if err == nil && len(rows) == 0 {
		rows, err = parseMarkdown(string(output))
	}
	if err != nil {
		return nil, fmt.Errorf("read llama-bench output: %w", err)
	}
	if len(rows) == 0 {
		return nil, errors.New("read llama-bench output: it has no result: neither JSON objects nor a table with columns test and t/s")
	}
	return rows, nil
}

// known are the keys that have fields of their own.
type known struct {
	Commit     string    `json:"build_commit"`
	Number     int       `json:"build_number"`
	CPU        string    `json:"cpu_info"`
	GPU        string    `json:"gpu_info"`
	Backends   string    `json:"backends"`
	File       string    `json:"model_filename"`
	Type       string    `json:"model_type"`
	Size       int64     `json:"model_size"`
	Parameters int64     `json:"model_n_params"`
	Batch      int       `json:"n_batch"`
	MicroBatch int       `json:"n_ubatch"`
	Threads    int       `json:"n_threads"`
	GPULayers  *int      `json:"n_gpu_layers"`
	Prompt     *int      `json:"n_prompt"`
	Generated  *int      `json:"n_gen"`
	Depth      int       `json:"n_depth"`
	TokensPerS *float64  `json:"avg_ts"`
	Deviation  float64   `json:"stddev_ts"`
	SamplesNS  []float64 `json:"samples_ns"`
}

// own are the keys that stand in Row's fields, or follow from them.
func own() []string {
	return []string{
		"build_commit", "build_number", "cpu_info", "gpu_info", "backends", "model_filename", "model_type", "model_size", "model_n_params", "n_batch", "n_ubatch",
		"n_threads", "n_gpu_layers", "n_prompt", "n_gen", "n_depth", "avg_ts", "stddev_ts", "samples_ns", "samples_ts", "avg_ns", "stddev_ns", "test_time", "flash_attn",
	}
}

// parseJSON reads every JSON object that is a result, alone on its line or
// within an array.
func parseJSON(output []byte) ([]Row, error) {
	var rows []Row
	for at := 0; at < len(output); {
		next := bytes.IndexAny(output[at:], "{[")
		if next < 0 {
			break
		}
		at += next
		decoder := json.NewDecoder(bytes.NewReader(output[at:]))
		var raw json.RawMessage
		if decoder.Decode(&raw) != nil {
			at++ // a bracket of some log line
			continue
		}
		at += int(decoder.InputOffset())
		found, err := fromJSON(raw)
		if err != nil {
			return nil, err
		}
		rows = append(rows, found...)
	}
	return rows, nil
}

func fromJSON(raw json.RawMessage) ([]Row, error) {
	objects := []json.RawMessage{raw}
	if raw[0] == '[' {
		if err := json.Unmarshal(raw, &objects); err != nil {
			return nil, err
		}
	}
	var rows []Row
	for _, o := range objects {
		var all map[string]any
		if json.Unmarshal(o, &all) != nil || all["avg_ts"] == nil || all["n_prompt"] == nil {
			continue
		}
		var k known
		if err := json.Unmarshal(o, &k); err != nil {
			return nil, err
		}
		rows = append(rows, k.row(all))
	}
	return rows, nil
}

func (k known) row(all map[string]any) Row {
	r := Row{
		Build: k.Commit, CPU: k.CPU, GPU: k.GPU, Backend: k.Backends, File: k.File, Model: k.Type, SizeBytes: k.Size, Parameters: k.Parameters,
		Threads: k.Threads, GPULayers: k.GPULayers, Batch: k.Batch, MicroBatch: k.MicroBatch, FlashAttn: plain(all["flash_attn"]),
		Depth: k.Depth, TokensPerSD: k.Deviation, Rest: map[string]string{},
	}
	if k.Number != 0 {
		r.Build = fmt.Sprintf("%s (%d)", k.Commit, k.Number)
	}
	if k.Prompt != nil {
		r.Prompt = *k.Prompt
	}
	if k.Generated != nil {
		r.Generated = *k.Generated
	}
	if k.TokensPerS != nil {
		r.TokensPerS = *k.TokensPerS
	}
	for _, ns := range k.SamplesNS {
		r.SamplesS = append(r.SamplesS, ns/1e9)
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if text := plain(all[key]); !slices.Contains(own(), key) && text != "" {
			r.Rest[key] = text
		}
	}
	return r
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
