package vllmcli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/load/spec"
)

// addStages defines the flags of stages, and of what is sent beside them.
func (f *Flags) addStages(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.stageTexts, "stages", nil, "`RATE:DURATION` ...: parts of the load, one after the other, "+
		"such as 2:60s 20:30s, or cN:DURATION with N requests in flight; NAME=RATE:DURATION names one (not in vLLM)")
	fs.Float64Var(&f.ProbeRate, "probe-request-rate", 0, "probes a second to send beside the load: the text Hi, for "+
		"one token of output, with figures of their own")
}

// probes are those that are sent beside the load.
func (f *Flags) probes() spec.Probes {
	if f.ProbeRate == 0 {
		return spec.Probes{}
	}
	return spec.Probes{RequestRate: f.ProbeRate, OutputLen: 1}
}

// checkProbes refuses probes that cannot be sent.
func (f *Flags) checkProbes() error {
	api, _, err := f.API()
	switch why := api.NoProbes(); {
	case err != nil || f.ProbeRate == 0:
		return err
	case f.ProbeRate < 0 || f.ProbeRate > spec.MaxProbeRate:
		return fmt.Errorf("--probe-request-rate %g: want 0 to %d", f.ProbeRate, spec.MaxProbeRate)
	case why != "":
		return fmt.Errorf("--probe-request-rate: --backend %s %s", f.Backend, why)
	case f.Dataset.Compat != "" && f.Dataset.Compat != dataset.CompatVLLM:
		return fmt.Errorf("--probe-request-rate: vLLM's client of --compat %s has no probes", f.Dataset.Compat)
	case len(f.Agents)+len(f.AgentCommands) > 0:
		return errors.New("--probe-request-rate needs a single load client: remove --agent and --agent-command")
	}
	return nil
}

// Stages are the stages of the load; nil: it is the same throughout.
func (f *Flags) Stages() ([]spec.Stage, error) {
	var all []spec.Stage
	for i, text := range f.stageTexts {
		s, err := parseStage(text, strconv.Itoa(i+1))
		if err != nil {
			return nil, fmt.Errorf("--stages %q: %w", text, err)
		}
		all = append(all, s)
	}
	if err := spec.CheckStages(all); err != nil {
		return nil, fmt.Errorf("--stages: %w", err)
	}
	return all, nil
}

func parseStage(text, name string) (spec.Stage, error) {
	errForm := errors.New("want RATE:DURATION or cN:DURATION, such as 2:60s or c8:1m")
	s := spec.Stage{Name: name}
	if given, rest, named := strings.Cut(text, "="); named {
		s.Name, text = given, rest
	}
	pace, last, ok := strings.Cut(text, ":")
	duration, err := time.ParseDuration(last)
	if !ok || err != nil || s.Name == "" {
		return s, errForm
	}

	s.Duration = duration
	if limit, capped := strings.CutPrefix(pace, "c"); capped {
		if s.MaxConcurrency, err = strconv.Atoi(limit); err != nil || s.MaxConcurrency < 1 {
			return s, errForm
		}
		return s, nil
	}
	rate, err := strconv.ParseFloat(pace, 64)
	if err != nil || math.IsNaN(rate) {
		return s, errForm
	}
	s.RequestRate = &rate
	return s, nil
}

// checkStages refuses what the stages decide.
func (f *Flags) checkStages() error {
	stages, err := f.Stages()
	switch {
	case err != nil || len(stages) == 0:
		return err
	case f.Dataset.Compat != "":
		return errors.New("--stages: no version of vLLM's client has stages: leave --compat out")
	case f.changed("request-rate"), f.changed("duration"), f.Ramp != "":
		return errors.New("--stages decide about rate and duration: leave --request-rate, --duration and " +
			"--ramp-up-strategy out")
	}
	if peak := spec.PeakConcurrency(stages); peak > 0 {
		if f.changed("max-concurrency") || len(f.Agents)+len(f.AgentCommands) > 0 {
			return errors.New("--stages with caps: leave --max-concurrency, --agent and --agent-command out")
		}
		f.MaxConcurrency = peak
	}
	f.Duration = spec.StagesLast(stages)
	return nil
}
