package amd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/gpu/device"
)

// decodeTool finds the JSON value in what one of AMD's tools printed: warnings
// may be before it and other values after it.
func decodeTool(out []byte) (any, error) {
	const tries = 16
	rest := out
	for range tries {
		at := bytes.IndexAny(rest, "{[")
		if at < 0 {
			break
		}
		rest = rest[at:]
		decoder := json.NewDecoder(bytes.NewReader(rest))
		decoder.UseNumber()
		var value any
		if err := decoder.Decode(&value); err == nil {
			return value, nil
		}
		rest = rest[1:]
	}

	if text := device.FirstLine(out); text != "" {
		return nil, fmt.Errorf("no JSON in its output: %s", text)
	}

	return nil, errors.New("no JSON in its output")
}

// object is a JSON object of one of the tools.
type object map[string]any

// asObject is v as an object; nil if it is not one.
func asObject(v any) object {
	m, _ := v.(map[string]any)
	return m
}

// field is the value of the first of these names that is there, in whatever
// case: versions differ. Of names that differ in case only, one is taken that
// does not depend on their order.
func (o object) field(names ...string) any {
	for _, name := range names {
		if v, ok := o[name]; ok {
			return v
		}
		var same []string
		for key := range o {
			if strings.EqualFold(key, name) {
				same = append(same, key)
			}
		}
		if len(same) > 0 {
			return o[slices.Min(same)]
		}
	}

	return nil
}

// quantity says what a number measures, and so which units it may have.
type quantity int

const (
	inUnits quantity = iota
	inMiB            // MiB where there is no unit; the tools call MiB "MB"
	inBytes          // bytes where there is no unit
	inWatts
	inJoules
	inHertz // MHz where there is no unit
	inDegrees
	inPercent // a share of 1 when read
)

// scale is what a number of this unit is multiplied by; false for a unit that
// such a number cannot have.
func (q quantity) scale(unit string) (float64, bool) {
	unit = strings.ToLower(strings.TrimSpace(unit))
	if unit == "" {
		unit = map[quantity]string{
			inMiB: "mb", inBytes: "b", inWatts: "w", inJoules: "j", inHertz: "mhz",
			inDegrees: "c", inPercent: "%",
		}[q]
	}

	memory := map[string]float64{
		"b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
	}
	units := map[quantity]map[string]float64{
		inUnits:   {"": 1},
		inMiB:     memory,
		inBytes:   memory,
		inWatts:   {"w": 1, "mw": 1e-3, "uw": 1e-6},
		inJoules:  {"j": 1, "kj": 1e3, "uj": 1e-6},
		inHertz:   {"hz": 1, "khz": 1e3, "mhz": 1e6, "ghz": 1e9},
		inDegrees: {"c": 1, "°c": 1},
		inPercent: {"%": 1e-2},
	}

	factor, ok := units[q][unit]
	return factor, ok
}

// measure reads a leaf in any of its shapes: a number, {"value": 5, "unit":
// "W"}, "138 MHz", "N/A". There is not a value where the tool says so; the error
// is for what is not understood.
func measure(v any, q quantity) (*float64, error) {
	switch leaf := v.(type) {
	case nil:
		return nil, nil
	case json.Number:
		return measured(leaf.String(), "", q)
	case string:
		text := strings.TrimSpace(leaf)
		if text == "" || strings.HasPrefix(strings.ToUpper(text), "N/A") {
			return nil, nil
		}
		end := strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789.+-", r) })
		if end < 0 {
			end = len(text)
		}
		return measured(text[:end], text[end:], q)
	case map[string]any:
		value, unit := object(leaf).field("value"), object(leaf).field("unit")
		if n, ok := value.(json.Number); ok {
			text, _ := unit.(string)
			return measured(n.String(), text, q)
		}
		if _, nested := value.(map[string]any); !nested && value != nil {
			return measure(value, q)
		}
		if value == nil && unit != nil {
			return nil, nil
		}
	}

	return nil, fmt.Errorf("%s is not a value", device.Clip(fmt.Sprint(v)))
}

// measured is a finite number that is not negative, in q's base unit.
func measured(number, unit string, q quantity) (*float64, error) {
	n, err := strconv.ParseFloat(number, 64)
	factor, ok := q.scale(unit)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return nil, fmt.Errorf("%q is not a number", device.Clip(number+unit))
	}
	if !ok {
		return nil, fmt.Errorf("unit %q is not known", device.Clip(unit))
	}
	n *= factor
	if n < 0 || math.IsInf(n, 0) {
		return nil, nil
	}
	return &n, nil
}

// wholeBytes is a number of bytes, where it is one.
func wholeBytes(v *float64) *int64 {
	if v == nil || *v > 1<<60 {
		return nil
	}
	return new(int64(math.Round(*v)))
}

// noteList collects what is odd about a tool's answers, each thing once.
type noteList struct{ notes []string }

func (s *noteList) note(format string, values ...any) {
	if text := fmt.Sprintf(format, values...); !slices.Contains(s.notes, text) {
		s.notes = append(s.notes, text)
	}
}

// Notes are what was odd so far, each said once.
func (s *noteList) Notes() []string { return s.notes }
