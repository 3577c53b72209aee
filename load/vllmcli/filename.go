package vllmcli

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/benchrig/bench/internal/pyjson"
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
		parts = append(parts, pyjson.Float(f.RequestRate)+"qps")
	}
	if f.MaxConcurrency > 0 {
		parts[len(parts)-1] += "-concurrency" + strconv.Itoa(f.MaxConcurrency)
	}
	model = model[strings.LastIndex(model, "/")+1:]
	return strings.Join(append(parts, model, now.Format("20060102-150405")), "-") + ".json"
}
