package vllmcli

import (
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ResultPath is where the result goes, named as vLLM's client names it.
func (f *Flags) ResultPath(model string, now time.Time) string {
	name := f.ResultFile
	if name == "" {
		name = f.resultName(model, now)
	}
	return filepath.Join(f.ResultDir, name)
}

func (f *Flags) resultName(model string, now time.Time) string {
	parts := []string{f.Backend}
	if f.Label != "" {
		parts[0] = f.Label
	}
	if f.Ramp != "" {
		parts = append(parts, "ramp-up-"+f.Ramp, strconv.Itoa(f.RampStart)+"qps", strconv.Itoa(f.RampEnd)+"qps")
	} else {
		parts = append(parts, pythonFloat(f.RequestRate)+"qps")
	}
	if f.MaxConcurrency > 0 {
		parts[len(parts)-1] += "-concurrency" + strconv.Itoa(f.MaxConcurrency)
	}
	model = model[strings.LastIndex(model, "/")+1:]
	return strings.Join(append(parts, model, now.Format("20060102-150405")), "-") + ".json"
}

// pythonFloat writes a number as Python does: "inf", "10.0", "0.5".
func pythonFloat(v float64) string {
	if math.IsInf(v, 1) {
		return "inf"
	}
	if size := math.Abs(v); size != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
