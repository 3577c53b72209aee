package results

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// LlamaBenchRow is one test of llama.cpp's benchmark program.
type LlamaBenchRow struct {
	Test        string            `json:"test"`  // "pp512", "tg128", "pp512+tg128 @ d1024"
	Build       string            `json:"build"` // commit, with its number in brackets where known
	CPU         string            `json:"cpu"`
	GPU         string            `json:"gpu"`
	Backend     string            `json:"backend"`
	File        string            `json:"file"`  // of the model; "": not told
	Model       string            `json:"model"` // kind and quantization: "llama 7B Q4_K - Medium"
	SizeBytes   int64             `json:"size_bytes"`
	Parameters  int64             `json:"parameters"`
	Threads     int               `json:"threads"`
	GPULayers   *int              `json:"gpu_layers"`
	Batch       int               `json:"batch"`
	MicroBatch  int               `json:"micro_batch"`
	FlashAttn   string            `json:"flash_attn"` // "0", "1", "-1" for auto, "": not told
	Prompt      int               `json:"prompt"`     // tokens processed
	Generated   int               `json:"generated"`  // tokens generated
	Depth       int               `json:"depth"`      // tokens in the context before
	TokensPerS  float64           `json:"tokens_per_s"`
	TokensPerSD *float64          `json:"tokens_per_s_sd"` // sample deviation over the repetitions; null: not known
	SamplesS    []float64         `json:"samples_s"`       // seconds of each repetition
	Rest        map[string]string `json:"rest"`            // all other settings that it tells
}

// RowSetting is one setting of a test, as llama-bench's own table calls it.
type RowSetting struct{ Name, Value string }

// TestName names what was run, as llama-bench's own table does: "pp512", "tg128",
// "pp512+tg128 @ d1024".
func TestName(prompt, generated, depth int) string {
	var parts []string
	if prompt > 0 {
		parts = append(parts, fmt.Sprintf("pp%d", prompt))
	}
	if generated > 0 {
		parts = append(parts, fmt.Sprintf("tg%d", generated))
	}

	name := strings.Join(parts, "+")
	if depth > 0 {
		name += fmt.Sprintf(" @ d%d", depth)
	}
	return name
}

// Settings are all settings of the test beside its lengths, in a fixed order,
// the model last. Two rows are one test only if all of them are equal.
func (r LlamaBenchRow) Settings() []RowSetting {
	layers := ""
	if r.GPULayers != nil {
		layers = strconv.Itoa(*r.GPULayers)
	}

	all := []RowSetting{
		{"backend", r.Backend},
		{"gpu", r.GPU},
		{"cpu", r.CPU},
		{"build", r.Build},
		{"fa", r.FlashAttn},
		{"b", countOrNone(r.Batch)},
		{"ub", countOrNone(r.MicroBatch)},
		{"t", countOrNone(r.Threads)},
		{"ngl", layers},
	}

	for _, name := range slices.Sorted(maps.Keys(r.Rest)) {
		if !isMeasured(name) {
			all = append(all, RowSetting{name, r.Rest[name]})
		}
	}

	return append(all,
		RowSetting{"model", r.Model},
		RowSetting{"file", r.File},
		RowSetting{"size", countOrNone(r.SizeBytes)},
		RowSetting{"params", countOrNone(r.Parameters)},
	)
}

// OfModel reports whether the setting belongs to the model.
func (s RowSetting) OfModel() bool {
	return s.Name == "model" || s.Name == "file" || s.Name == "size" || s.Name == "params"
}

// ModelName is the model's file without folder and ending, or what the program
// calls the model.
func (r LlamaBenchRow) ModelName() string {
	if r.File == "" {
		return r.Model
	}
	return strings.TrimSuffix(path.Base(r.File), ".gguf")
}

// SameTest reports whether two rows measure the same: test, model and every
// setting agree.
func (r LlamaBenchRow) SameTest(other LlamaBenchRow) bool {
	return r.Test == other.Test && slices.Equal(r.Settings(), other.Settings())
}

// isMeasured tells the measurements among LlamaBenchRow.Rest from settings.
func isMeasured(name string) bool {
	return name == "test_time" || strings.HasPrefix(name, "avg_") || strings.HasPrefix(name, "stddev_") ||
		strings.HasPrefix(name, "samples_")
}

func countOrNone[T int | int64](n T) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(int64(n), 10)
}
