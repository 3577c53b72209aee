package vllmcli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/benchrig/bench/load/spec"
)

// EarlyFlags say when the load ends before its last request.
type EarlyFlags struct {
	Overload   bool
	Until      []string
	MinSuccess float64 // share of the requests, 0 to 1; 0: any
}

func (e *EarlyFlags) addFlags(fs *pflag.FlagSet) {
	fs.StringArrayVar(&e.Until, "until", nil, "`FIGURE:PERCENT` ...: end the load once these percentiles of ttft, "+
		"tpot or e2el are known within the margin, such as p99_ttft:5 (not in vLLM)")
	fs.BoolVar(&e.Overload, "end-overloaded", false,
		"end the load once it is established that the server does not keep up with --request-rate (not in vLLM)")
	fs.Float64Var(&e.MinSuccess, "min-success", 0,
		"`share` of requests that must succeed, 0 to 1: the load ends and fails once this cannot be reached "+
			"(not in vLLM)")
}

// Early is when the load ends before its last request.
func (f *Flags) Early() (spec.Early, error) {
	early := spec.Early{Overload: f.EarlyEnd.Overload}
	for _, text := range f.EarlyEnd.Until {
		name, value, _ := strings.Cut(text, ":")
		percent, err := strconv.ParseFloat(strings.TrimSuffix(value, "%"), 64)
		if err != nil {
			return early, fmt.Errorf("--until %q: want FIGURE:PERCENT, such as p99_ttft:5", text)
		}
		margin, err := spec.ParseMargin(name, percent/100)
		if err != nil {
			return early, fmt.Errorf("--until %q: %w", text, err)
		}
		if slices.ContainsFunc(early.Until, func(m spec.Margin) bool { return m.Name() == margin.Name() }) {
			return early, fmt.Errorf("--until %q: %s is given twice", text, name)
		}
		early.Until = append(early.Until, margin)
	}
	return early, nil
}

// checkEarly refuses what keeps a load from ending early.
func (f *Flags) checkEarly() error {
	early, err := f.Early()
	if err != nil {
		return err
	}

	ramp := spec.Ramp{Strategy: f.Ramp}
	switch {
	case math.IsNaN(f.EarlyEnd.MinSuccess) || f.EarlyEnd.MinSuccess < 0 || f.EarlyEnd.MinSuccess > 1:
		return errors.New("--min-success must be from 0 to 1")
	case !early.Active():
		return nil
	case f.Dataset.Compat != "":
		return errors.New("--until and --end-overloaded: no version of vLLM's client ends early: remove --compat")
	case len(f.Agents)+len(f.AgentCommands) > 0:
		return errors.New("--until and --end-overloaded need a single load client: remove --agent and --agent-command")
	case len(early.Until) > 0 && f.Dataset.Turns > 1:
		return errors.New("--until works on single requests: remove --turns")
	}
	if err := spec.CheckEarly(early, f.RequestRate, ramp); err != nil {
		return fmt.Errorf("--end-overloaded: %w", err)
	}
	return nil
}
