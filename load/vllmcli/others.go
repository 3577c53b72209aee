package vllmcli

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/pflag"
)

// other is a flag of vLLM's client that this one knows but does not follow.
type other struct {
	name  string
	value bool   // it takes one
	why   string // what keeps it from having its effect
	// harmless: the figures are the same without it, so that it may be given.
	harmless bool
	// neutral is the value that asks for nothing; "" if there is none.
	neutral string
}

// Reasons that several flags share.
const (
	noChatPooling = "images and messages are not embedded: texts are, with --backend openai-embeddings"
	noPictures    = "no pictures are drawn: the detailed result holds all times"
	noSpecBench   = "dataset spec_bench is not read: convert it for dataset custom"
	noSpeedy      = "dataset speed_bench is not read: convert it for dataset custom"
	noBlazedit    = "dataset blazedit is not read: convert it for dataset custom"
	noASRLimits   = "all files of --dataset-name audio are sent"
	noSteady      = "the figures are those of the whole pass, with a warning if they drift"
	useSuite      = "one pass is measured: `bench sweep` and `bench run` measure several"
	useTurns      = "several turns are sent with --dataset-name conversation or sharegpt and --turns"
)

// others lists the flags without effect here: those of vLLM's Python clients
// from 2024 to 2026, and those that only its Rust client has.
func others() []other {
	return slices.Concat(othersOfPython(), othersOfRust())
}

func othersOfPython() []other {
	return []other{
		{name: "trust-remote-code", harmless: true, why: "no code of a model is run here"},
		{name: "no-stream", harmless: true, why: "datasets are read from local files"},
		{name: "enable-multimodal-chat", harmless: true, why: "images are sent as parts of the message either way"},
		{name: "tokenizer-mode", value: true, neutral: "auto", why: "the tokenizer's own file decides"},
		{name: "use-beam-search", why: "beam search has no streamed tokens to measure"},
		{name: "best-of", value: true, neutral: "1", why: "one answer a request is measured"},
		{name: "config", value: true, why: "files of flags are not read: give the flags, or write a scenario"},
		{name: "version", value: true, harmless: true, why: "it was a label of the result file: see --metadata"},
		{name: "profile", why: "the server's profiler is not driven from here: start and stop it yourself"},
		{name: "lora-assignment", value: true, neutral: "random", why: "adapters are drawn by the seed"},
		{name: "plot-timeline", why: noPictures},
		{name: "plot-dataset-stats", why: "no pictures are drawn: see bench dataset show"},
		{name: "timeline-itl-thresholds", value: true, neutral: "25,50", why: noPictures},
		{name: "custom-ensure-client-side-data", why: "custom datasets with images or audio are not read"},
		{name: "spec-bench-output-len", value: true, neutral: "256", why: noSpecBench},
		{name: "spec-bench-category", value: true, why: noSpecBench},
		{name: "speed-bench-dataset-subset", value: true, neutral: "qualitative", why: noSpeedy},
		{name: "speed-bench-output-len", value: true, neutral: "4096", why: noSpeedy},
		{name: "speed-bench-category", value: true, why: noSpeedy},
		{name: "blazedit-min-distance", value: true, neutral: "0", why: noBlazedit},
		{name: "blazedit-max-distance", value: true, neutral: "1", why: noBlazedit},
		{name: "bfcl-categories", value: true, why: "dataset BFCL is not read: convert it for dataset custom"},
		{name: "asr-max-audio-len-sec", value: true, neutral: "inf", why: noASRLimits},
		{name: "asr-min-audio-len-sec", value: true, neutral: "0", why: noASRLimits},
	}
}

// othersOfRust are flags of the client in Rust that came beside Python's.
func othersOfRust() []other {
	return []other{
		{name: "max-model-len", value: true, why: "no prompt is left out: give lengths that the model takes"},
		{name: "per-turn-input-len", value: true, neutral: "0", why: useTurns},
		{name: "random-cache-hit-fraction", value: true, neutral: "0", why: "see --dataset-name shared_prefix"},
		{name: "random-cache-ratio", value: true, neutral: "0", why: "see --dataset-name shared_prefix"},
		{name: "no-steady-state", harmless: true, why: noSteady},
		{name: "steady-state-threshold", value: true, neutral: "0.95", why: noSteady},
		{name: "steady-state-min-window", value: true, why: noSteady},
		{name: "profile-batch-threshold", value: true, why: "the server's profiler is not driven from here"},
		{name: "profile-duration", value: true, neutral: "5", why: "the server's profiler is not driven from here"},
		{name: "speed-bench-max-input-len", value: true, why: noSpeedy},
		{name: "dry-run", why: "see bench dataset build and bench dataset show"},
		{name: "compare", value: true, why: "see bench import and bench compare"},
		{name: "num-runs", value: true, neutral: "1", why: useSuite},
		{name: "sweep-max-concurrency", value: true, why: useSuite},
		{name: "sweep-request-rate", value: true, why: useSuite},
		{name: "sweep-num-prompts-factor", value: true, why: useSuite},
		{name: "sweep-summary-percentiles", value: true, why: useSuite},
		{name: "reset-prefix-cache", why: "the server is left as it is: bench run resets caches between steps"},
		{name: "multi-turn", why: useTurns},
		{name: "multi-turn-num-turns", value: true, why: useTurns},
		{name: "multi-turn-min-turns", value: true, neutral: "0", why: useTurns},
		{name: "multi-turn-max-turns", value: true, neutral: "0", why: useTurns},
		{name: "multi-turn-concurrency", value: true, why: useTurns},
		{name: "multi-turn-delay-ms", value: true, neutral: "0", why: useTurns},
		{name: "multi-turn-prefix-global-ratio", value: true, neutral: "0", why: useTurns},
		{name: "multi-turn-prefix-conversation-ratio", value: true, neutral: "0", why: useTurns},
	}
}

func addOthers(fs *pflag.FlagSet) {
	for _, o := range others() {
		if o.value {
			fs.StringArray(o.name, nil, "")
		} else {
			fs.Bool(o.name, false, "")
		}
		_ = fs.MarkHidden(o.name) // it was just defined
	}
}

// isNeutral reports whether a flag was given its neutral value, however often
// and however the number is spelled.
func isNeutral(flag *pflag.Flag, neutral string) bool {
	values, ok := flag.Value.(pflag.SliceValue)
	return ok && !slices.ContainsFunc(values.GetSlice(), func(v string) bool { return !sameValue(v, neutral) })
}

func sameValue(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return a == b || errX == nil && errY == nil && x == y
}

// checkOthers refuses what has no effect here, and notes what needs none.
func checkOthers(fs *pflag.FlagSet) (notes []string, err error) {
	for _, o := range others() {
		flag := fs.Lookup(o.name)
		switch {
		case flag == nil || !flag.Changed || o.value && o.neutral != "" && isNeutral(flag, o.neutral):
		case o.harmless:
			notes = append(notes, fmt.Sprintf("--%s has no effect: %s", o.name, o.why))
		default:
			return nil, fmt.Errorf("--%s is not supported: %s", o.name, o.why)
		}
	}
	return notes, nil
}
