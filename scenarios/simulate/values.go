package simulate

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// counts are the simulator's arguments that are whole numbers above 0.
func counts() []string {
	return []string{
		"tensor-parallel-size", "pipeline-parallel-size", "max-model-len", "max-num-seqs", "max-num-batched-tokens",
		"block-size", "num-scheduler-steps", "num-speculative-tokens", "speculative-draft-tensor-parallel-size",
		"ctx-size", "parallel",
	}
}

// fractions are the simulator's arguments that are numbers above 0 and at
// most 1.
func fractions() []string { return []string{"gpu-memory-utilization"} }

// simValue is the value of an engine's argument as the simulator takes it.
// Engines write numbers in forms of their own (16k, 8K) and let some stand for
// "as the engine decides" (auto, -1, 0); such an argument is not passed on.
func simValue(name string, value any) (v any, ok bool) {
	switch {
	case slices.Contains(counts(), name):
		n, ok := parseCount(value)
		return json.Number(strconv.FormatInt(n, 10)), ok
	case slices.Contains(fractions(), name):
		f, err := strconv.ParseFloat(textOf(value), 64)
		return value, err == nil && f > 0 && f <= 1
	case name == "seed":
		n, err := strconv.ParseInt(textOf(value), 10, 64)
		return value, err == nil && n >= 0
	}

	return value, true
}

// countText is a number as vLLM reads it: a small letter is a power of 1000, a
// capital one of 1024.
var countText = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)([kmgKMG]?)$`)

// parseCount reads a whole number from 1 to 2^31-1.
func parseCount(value any) (int64, bool) {
	m := countText.FindStringSubmatch(strings.TrimSpace(textOf(value)))
	if m == nil {
		return 0, false
	}
	factor := map[string]float64{"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[m[2]]
	n, err := strconv.ParseFloat(m[1], 64)
	n *= factor
	if err != nil || n < 1 || n > math.MaxInt32 || n != math.Trunc(n) {
		return 0, false
	}

	return int64(n), true
}

// textOf is a scalar as its file spells it; "" for anything else.
func textOf(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}

	return ""
}
