package stated

import (
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// stateSetting notes that a setting of the load is known.
func (e *Entry) stateSetting(name string) {
	e.Origin.StatedSettings = text.AppendNew(e.Origin.StatedSettings, name)
}

// IsStated reports whether a setting of the load is known.
func (e *Entry) IsStated(name string) bool { return slices.Contains(e.Origin.StatedSettings, name) }

// setting sets a setting of the load that is a number. It returns false if the text
// is not understood.
func (e *Entry) setting(name, text, label string) bool {
	lower := strings.ToLower(strings.TrimSuffix(strings.TrimSpace(text), "."))
	lower = strings.TrimSpace(strings.TrimPrefix(strings.TrimSuffix(strings.TrimSuffix(lower, " rps"),
		" (poisson process)"), "c="))
	none := slices.Contains([]string{"null", "none", "not set", "inf", "infinity"}, lower)
	v, ok := plain.Number(lower)
	switch {
	case !ok && !none:
		return false
	case name == "repeat":
		return true // repeats are counted anew
	case e.IsStated(name):
		now := "none"
		if !none {
			now = numberText(v)
		}
		if before := e.SettingText(name); before != now {
			e.Warn(results.WarnImportedDiffers, "%s is %s, and was before %s", label, text, before)
			return false
		}
		return true
	case none && name != "max_concurrency" && name != "request_rate":
		return true // its default, which the file does not tell
	case !none && !e.setNumber(name, v):
		return false
	}

	e.stateSetting(name)
	return true
}

// placeOf returns where a setting is kept that a result may lack: as a whole number,
// or as any number.
func (e *Entry) placeOf(name string) (whole **int, number **float64) {
	a := &e.Asked
	switch name {
	case "max_concurrency":
		return &a.MaxConcurrency, nil
	case "input_len":
		return &a.InputLen, nil
	case "output_len":
		return &a.OutputLen, nil
	case "request_rate":
		return nil, &a.RequestRate
	case "burstiness":
		return nil, &a.Burstiness
	case "temperature":
		return nil, &a.Temperature
	}
	return nil, nil
}

func (e *Entry) setNumber(name string, v float64) bool {
	whole, number := e.placeOf(name)
	switch {
	case name == "num_prompts":
		return setCount(&e.Asked.NumPrompts, v)
	case number != nil:
		*number = &v
	case whole != nil:
		n := 0
		if !setCount(&n, v) {
			return false
		}
		*whole = &n
	}
	return true
}

// SettingText returns the value of a setting of the load, "none" without one.
func (e *Entry) SettingText(name string) string {
	whole, number := e.placeOf(name)
	switch {
	case name == "num_prompts":
		return numberText(float64(e.Asked.NumPrompts))
	case whole != nil && *whole != nil:
		return numberText(float64(**whole))
	case number != nil && *number != nil:
		return numberText(**number)
	}
	return "none"
}

func numberText(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// word sets a value that is not a number.
func (e *Entry) word(name, text, label string) {
	if text == "" || text == "null" || text == "None" {
		return
	}

	put := func(at *string) {
		if *at != "" && *at != text {
			e.Warn(results.WarnImportedDiffers, "%s is %q, and was before %q", label, text, *at)
			return
		}
		*at = text
	}

	switch name {
	case "model":
		put(&e.Model)
	case "backend":
		put(&e.Backend)
	case "variant", "label":
		e.Variant = text
	case "point":
		e.Point = text
	case "date":
		e.Date = text
	case "endpoint":
		put(&e.Asked.Endpoint)
		e.stateSetting(name)
	case "dataset":
		put(&e.Asked.Dataset)
		e.stateSetting(name)
	case "dataset_path":
		put(&e.Asked.DatasetPath)
	case "tokenizer":
		put(&e.Asked.Tokenizer)
	case "ignore_eos":
		e.Asked.IgnoreEOS = strings.EqualFold(text, "true")
		e.stateSetting(name)
	}
}
