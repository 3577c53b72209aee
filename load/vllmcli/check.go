package vllmcli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/load/spec"
)

// check refuses values that no run can follow.
func (f *Flags) check() error {
	if err := f.Dataset.check(); err != nil {
		return err
	}

	if f.Dataset.SkipTemplate && f.Dataset.Name != "custom" {
		f.Notes = append(f.Notes, "--skip-chat-template has no effect: only prompts of dataset custom would get a "+
			"template")
	} else if f.Dataset.Name == "custom" && !f.Dataset.SkipTemplate {
		f.Notes = append(f.Notes, "prompts of dataset custom are sent as they are; vLLM's client would put them "+
			"through the chat template first: give --skip-chat-template there to compare")
	}

	for _, c := range []struct {
		bad  bool
		want string
	}{
		{f.changed("max-concurrency") && f.MaxConcurrency < 1, "--max-concurrency must be at least 1"},
		{!(f.RequestRate > 0), "--request-rate must be above 0, or inf"},
		{!(f.Burstiness > 0), "--burstiness must be above 0, or inf"},
		{f.Warmups < 0, "--num-warmups must be at least 0"},
		{f.Duration < 0, "--duration must be at least 0"},
		{!slices.Contains([]string{"", "sockets", "net/http"}, f.Transport), "--transport must be sockets or net/http"},
		{
			!slices.Contains([]string{"", spec.MaxTokens, spec.MaxCompletionTokens}, f.Request.LimitField),
			"--max-tokens-field must be max_tokens or max_completion_tokens",
		},
		{f.Resend < 0, "--resend must be at least 0"},
		{!(f.Evaluate.MinScore >= 0 && f.Evaluate.MinScore <= 1), "--min-score must be from 0 to 1"},
		{f.Evaluate.MinScore > 0 && !f.Evaluate.Exact, "--min-score is for --evaluate: give both"},
		{f.Duration > 0 && f.Dataset.Compat != "", "--duration repeats prompts, which no version of vLLM's client " +
			"does: leave --compat out"},
		{f.Duration > 0 && f.Ramp != "", "--duration and --ramp-up-strategy exclude each other: " +
			"a ramp ends with the last prompt"},
	} {
		if c.bad {
			return errors.New(c.want)
		}
	}

	if err := f.checkAPI(); err != nil {
		return err
	}
	if err := f.checkEarly(); err != nil {
		return err
	}
	if err := f.checkClasses(); err != nil {
		return err
	}
	if err := f.checkStages(); err != nil {
		return err
	}
	if err := f.checkProbes(); err != nil {
		return err
	}
	if err := f.checkTrace(); err != nil {
		return err
	}
	return f.checkRamp()
}

// checkAPI refuses what the API cannot carry or give.
func (f *Flags) checkAPI() error {
	api, _, err := f.API()
	d := &f.Dataset
	switch why := api.Misfit(kindOf(d.Name)); {
	case err != nil:
		return err
	case why != "":
		return fmt.Errorf("--dataset-name %s is not supported: --backend %s %s", d.Name, f.Backend, spelled(why))
	case !api.Numbers && d.BatchSize > 1:
		return fmt.Errorf("--random-batch-size %d: --backend %s takes one prompt a request", d.BatchSize, f.Backend)
	case api.Numbers && d.Compat != "" && d.Compat != dataset.CompatVLLM:
		return fmt.Errorf("--compat %s: that client has no %s API", d.Compat, api.Name)
	case api.Audio && d.Compat != "":
		return fmt.Errorf("--compat %s: how that client reads transcriptions is not followed: leave it out", d.Compat)
	case api.Audio && f.Evaluate.Exact:
		return fmt.Errorf("--evaluate asks questions as text, and --backend %s takes audio", f.Backend)
	}
	d.NoOutput = api.Numbers
	return nil
}

// checkTrace holds to vLLM's rules of traces with times.
func (f *Flags) checkTrace() error {
	isTrace := f.Dataset.Name == timedTrace
	switch {
	case !isTrace && (f.SelfTimed || f.NoSelfTimed):
		return errors.New("--self-timed and --no-self-timed are for --dataset-name timed_trace")
	case f.SelfTimed && f.NoSelfTimed:
		return errors.New("--self-timed and --no-self-timed exclude each other")
	case isTrace && !f.NoSelfTimed && !math.IsInf(f.RequestRate, 1):
		return errors.New("requests leave at the trace's times: leave --request-rate out, or give --no-self-timed")
	case isTrace && !f.NoSelfTimed && f.Ramp != "":
		return errors.New("requests leave at the trace's times: leave --ramp-up-strategy out, or give --no-self-timed")
	}

	if isTrace && !f.Dataset.TokenIDs {
		f.Notes = append(f.Notes, "prompts of timed_trace are sent as text; vLLM's client sends token ids: "+
			"give --prompt-token-ids to do so, with --tokenizer")
	}
	return nil
}

func (d *DatasetFlags) check() error {
	if d.SkipInit {
		d.Tokenizer = "none"
	}
	switch {
	case d.BatchSize < 1:
		return errors.New("--random-batch-size must be at least 1")
	case d.NoReranker:
		return errors.New("--no-reranker is not supported: query and document are read together")
	}
	if d.NumPrompts < 1 {
		return errors.New("--num-prompts must be at least 1")
	}
	if compats := []string{
		"", dataset.CompatVLLM, dataset.CompatVLLM010,
		dataset.CompatVLLM06,
	}; !slices.Contains(compats, d.Compat) {
		return fmt.Errorf("--compat %q: want one of %s", d.Compat, strings.Join(compats[1:], ", "))
	}
	return nil
}

// checkRamp holds to vLLM's rules of ramps.
func (f *Flags) checkRamp() error {
	switch {
	case f.Ramp == "" && (f.changed("ramp-up-start-rps") || f.changed("ramp-up-end-rps")):
		return errors.New("--ramp-up-start-rps and --ramp-up-end-rps need --ramp-up-strategy")
	case f.Ramp == "":
		return nil
	case f.Ramp != "linear" && f.Ramp != "exponential":
		return fmt.Errorf("--ramp-up-strategy %q: want linear or exponential", f.Ramp)
	case !math.IsInf(f.RequestRate, 1):
		return errors.New("--ramp-up-strategy sets the rate: leave --request-rate out")
	case !f.changed("ramp-up-start-rps") || !f.changed("ramp-up-end-rps"):
		return errors.New("--ramp-up-strategy needs --ramp-up-start-rps and --ramp-up-end-rps")
	case f.RampStart < 0 || f.RampEnd < f.RampStart:
		return fmt.Errorf("--ramp-up-start-rps %d to --ramp-up-end-rps %d: want a rate of at least 0 that does not "+
			"fall", f.RampStart, f.RampEnd)
	case f.Ramp == "exponential" && f.RampStart == 0:
		return errors.New("--ramp-up-strategy exponential: --ramp-up-start-rps must be above 0")
	}
	return nil
}

// ShownMetrics are the latencies to show, in the order of the block.
func (f *Flags) ShownMetrics() ([]string, error) {
	asked := splitList(f.Metrics)
	known := []string{"ttft", "tpot", "itl", "e2el"}
	for _, m := range asked {
		if m == "client_queue_time" || m == "e2el_including_client_queue" {
			return nil, fmt.Errorf("--percentile-metrics %s is not supported: --save-detailed writes the waits of all "+
				"requests as queue_times", m)
		}
		if !slices.Contains(known, m) {
			return nil, fmt.Errorf("--percentile-metrics %q: want some of %s", m, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(known, func(m string) bool { return !slices.Contains(asked, m) }), nil
}

// ShownPercentiles are the percentiles to show, ascending.
func (f *Flags) ShownPercentiles() ([]float64, error) {
	var out []float64
	for _, text := range splitList(f.Percentiles) {
		p, err := strconv.ParseFloat(text, 64)
		if err != nil || !(p >= 0 && p <= 100) {
			return nil, fmt.Errorf("--metric-percentiles %q: want numbers from 0 to 100", text)
		}
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out, nil
}

// maxGoalMS is the longest goal, in milliseconds: what a duration can hold. A
// goal of inf, which each request meets, is best left out.
const maxGoalMS = math.MaxInt64 / 2e6

// Goals are the goals of a good request; nil: none.
func (f *Flags) Goals() (map[string]time.Duration, error) {
	var goals map[string]time.Duration
	for _, text := range f.Goodput {
		name, value, ok := strings.Cut(text, ":")
		ms, err := strconv.ParseFloat(value, 64)
		if !ok || err != nil || !(ms >= 0 && ms <= maxGoalMS) ||
			!slices.Contains([]string{"ttft", "tpot", "e2el"}, name) {
			return nil, fmt.Errorf("--goodput %q: want ttft:MS, tpot:MS or e2el:MS, with a finite number of "+
				"milliseconds", text)
		}
		if goals == nil {
			goals = map[string]time.Duration{}
		}
		goals[name] = time.Duration(ms * float64(time.Millisecond))
	}
	return goals, nil
}

func splitList(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}
