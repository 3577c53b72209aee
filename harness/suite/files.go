package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchrig/bench/results"
)

// The files beside those of the rounds.
const (
	EngineParamsName = "engine_params.txt"
	MemoryUsageName  = "mem_usage.txt"
)

// FileName is that of a round's result: MODEL_IN-OUT_N.json, without what
// makes no file name.
func (r Round) FileName(model string) string {
	input := "unknown"
	if r.Load.InputLen > 0 {
		input = fmt.Sprint(r.Load.InputLen)
	}
	safe := strings.Map(func(c rune) rune {
		if c <= ' ' || strings.ContainsRune(`/\:*?"<>|`, c) || c == 0x7f {
			return '_'
		}
		return c
	}, model)
	if strings.Trim(safe, ".") == "" {
		safe = "model"
	}
	return fmt.Sprintf("%s_%s-%d_%d.json", safe, input, r.Load.OutputLen, r.Load.NumPrompts)
}

// Params are the flags of a command line, one per line, each with what follows
// it. The first word is the program, and words before the first flag are its
// own business.
func Params(argv []string) []string {
	var lines []string
	for i, word := range argv {
		switch {
		case i == 0:
		case isFlag(word):
			lines = append(lines, word)
		case len(lines) > 0:
			lines[len(lines)-1] += " " + word
		}
	}
	return lines
}

// isFlag distinguishes -c and --ctx-size from values, negative numbers among them.
func isFlag(word string) bool {
	name := strings.TrimLeft(word, "-")
	return strings.HasPrefix(word, "-") && name != "" && (name[0] < '0' || name[0] > '9') && name[0] != '.'
}

// EngineParams is the text of engine_params.txt: lines of parameters, or why
// there are none.
func EngineParams(lines []string, why string) []byte {
	var out bytes.Buffer
	out.WriteString("engine params:\n")
	if len(lines) == 0 {
		fmt.Fprintf(&out, "unknown: %s\n", strings.ReplaceAll(why, "\n", "; "))
	}
	for _, line := range lines {
		fmt.Fprintln(&out, strings.ReplaceAll(line, "\n", `\n`))
	}
	return out.Bytes()
}

// ServerParams are parameters that a server gives under a path, as lines.
func ServerParams(arguments map[string]string, path string) []string {
	if len(arguments) == 0 {
		return nil
	}
	lines := []string{"(its command line is not known; as it says at " + path + ")"}
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		lines = append(lines, name+" "+arguments[name])
	}
	return lines
}

// Memory is the video memory of one GPU in bytes; nil is not known.
type Memory struct {
	Name        string
	Used, Total *int64
}

// MemoryUsage is the text of mem_usage.txt: the memory of each GPU before the
// first and after the last measured round.
func MemoryUsage(before, after []Memory) []byte {
	var names []string
	for _, g := range before {
		if !slices.Contains(names, g.Name) {
			names = append(names, g.Name)
		}
	}

	var out bytes.Buffer
	fmt.Fprintf(&out, "GPU Name: %s\n", strings.Join(names, ", "))
	for _, part := range []struct {
		title string
		gpus  []Memory
	}{{"Warm up status:", before}, {"After Benchmark status:", after}} {
		fmt.Fprintln(&out, part.title)
		for _, g := range part.gpus {
			fmt.Fprintf(&out, "%s %s\n", mib(g.Used), mib(g.Total))
		}
	}

	return out.Bytes()
}

func mib(v *int64) string {
	if v == nil {
		return "N/A"
	}
	return fmt.Sprintf("%dMiB", *v/(1<<20))
}

// JSON is the result file of a round: the names that the file is documented
// with, then those of vLLM's client as vllm has them. Where a name is both, it
// stands once, with vLLM's value. The three latencies are means in ms. What GPUs
// did is there where they were read.
func (row Row) JSON(vllm []byte) ([]byte, error) {
	r, images := row.Round, row.Images
	var theirs struct {
		NumPrompts *int64   `json:"num_prompts"`
		Completed  *int64   `json:"completed"`
		Output     *int64   `json:"total_output_tokens"`
		Throughput *float64 `json:"output_throughput"`
		TTFT       *float64 `json:"mean_ttft_ms"`
		TPOT       *float64 `json:"mean_tpot_ms"`
		ITL        *float64 `json:"mean_itl_ms"`
	}

	vllm = bytes.TrimSpace(vllm)
	if err := json.Unmarshal(vllm, &theirs); err != nil {
		return nil, fmt.Errorf("write result of round: %w", err)
	}
	if !bytes.HasPrefix(vllm, []byte("{")) || theirs.NumPrompts == nil {
		return nil, errors.New("write result of round: vLLM's names are missing")
	}

	fields := []namedValue{
		{"input_length", r.Load.InputLen},
		{"output_length", r.Load.OutputLen},
		{"successful_requests", theirs.Completed},
		{"total_generated_tokens", theirs.Output},
		{"output_token_throughput", theirs.Throughput},
		{"time_to_first_token", theirs.TTFT},
		{"time_per_output_token", theirs.TPOT},
		{"inter_token_latency", theirs.ITL},
		{"profile", r.Profile},
		{"seed", r.Seed},
	}

	if images != nil {
		fields = append(fields,
			namedValue{"image_size", images.Size},
			namedValue{"estimated_image_tokens", images.Tokens},
			namedValue{"estimated_text_tokens", images.Text},
			namedValue{"estimated_template_tokens", images.Template},
		)
	}

	return splice(append(fields, gpuFields(row.Result)...), vllm[1:])
}

// gpuFields are the figures of the GPUs, null where one of them does not tell;
// none where no GPU was read.
func gpuFields(r *results.Result) []namedValue {
	if !readGPUs(r) {
		return nil
	}

	var fields []namedValue
	for _, c := range gpuColumns {
		fields = append(fields, namedValue{c.field, c.of(r)})
	}
	return fields
}

// readGPUs reports whether GPUs were read beside a round.
func readGPUs(r *results.Result) bool {
	return r != nil && r.Telemetry != nil && len(r.Telemetry.GPUs) > 0
}

// namedValue is a field of an object whose order matters.
type namedValue struct {
	name  string
	value any
}

// splice writes fields before the rest of an object.
func splice(fields []namedValue, rest []byte) ([]byte, error) {
	out := []byte("{")
	for _, f := range fields {
		value, err := json.Marshal(f.value)
		if err != nil {
			return nil, fmt.Errorf("write result of round: %s: %w", f.name, err)
		}
		out = fmt.Appendf(out, "%q: %s, ", f.name, value)
	}
	return append(append(out, rest...), '\n'), nil
}
