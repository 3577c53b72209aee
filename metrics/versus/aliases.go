package versus

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/engines"
)

// chosenByBench are flags whose values bench picks afresh for each start.
var chosenByBench = []string{"--host", "--port"}

// normalizeFlag gives the name by which a flag is compared.
func normalizeFlag(launcher, name string) string {
	if strings.HasPrefix(name, "--") {
		name = strings.ReplaceAll(name, "_", "-")
	}
	if kind, known := engines.Lookup(launcher); known {
		return cmp.Or(kind.Args.Spellings[name], name)
	}

	return name
}

// normalizeValue writes a value in one way: numbers by normalizeNumber, 8K as 8192 where
// the engine accepts that, JSON without blanks and with its keys in order, "set" for
// what turns a switch on, "false" for what turns it off.
func normalizeValue(launcher, name, value string) string {
	if kind, known := engines.Lookup(launcher); known && slices.Contains(kind.Args.ShortNumbers, name) {
		if n, ok := text.WholeNumber(value); ok {
			return strconv.FormatInt(n, 10)
		}
	}
	switch lower := strings.ToLower(value); {
	case lower == "true" || lower == "on" || name == "--flash-attn" && value == "1":
		return switchedOn
	case lower == switchedOff || lower == "off" || name == "--flash-attn" && value == "0":
		return switchedOff
	case strings.HasPrefix(value, "{") || strings.HasPrefix(value, "["):
		return normalizeJSON(value)
	}
	return normalizeNumber(value)
}

// The normalized values of a switch.
const (
	switchedOn  = "set"
	switchedOff = "false"
)

// normalizeJSON writes JSON in one way; what is not JSON stays as it is.
func normalizeJSON(text string) string {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil || decoder.More() {
		return text
	}

	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(normalizeNumbers(value)) != nil {
		return text
	}
	return strings.TrimSpace(out.String())
}

func normalizeNumbers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			v[name] = normalizeNumbers(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = normalizeNumbers(inner)
		}
	case json.Number:
		return json.Number(normalizeNumber(v.String()))
	}
	return value
}

// foldNegations writes --no-x as --x false where a is started with --no-x and b
// with --x, or the other way round.
func foldNegations(a, b map[string]string) (map[string]string, map[string]string) {
	fold := func(args, others map[string]string) map[string]string {
		out := maps.Clone(args)
		for flag, value := range args {
			rest, negates := strings.CutPrefix(flag, "--no-")
			_, inOthers := others["--"+rest]
			if _, both := args["--"+rest]; negates && inOthers && !both && value == switchedOn {
				delete(out, flag)
				out["--"+rest] = switchedOff
			}
		}
		return out
	}
	return fold(a, b), fold(b, a)
}

// normalizeNumber writes a number in one way: 0.960 is 0.96, and 8.0 is 8. What is
// no plain decimal number stays as it is.
func normalizeNumber(value string) string {
	if value == "" || strings.Trim(value, "+-.0123456789") != "" {
		return value
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || strings.Trim(value, "+-0123456789") == "" { // whole numbers may be too long for a float
		return value
	}

	return strconv.FormatFloat(v, 'f', -1, 64)
}
