package vllmcli

import (
	"fmt"
	"slices"

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

// others lists the flags without effect here.
func others() []other {
	return []other{
		{name: "trust-remote-code", harmless: true, why: "no code of a model is run here"},
		{name: "no-stream", harmless: true, why: "datasets are read from local files"},
		{name: "tokenizer-mode", value: true, neutral: "auto", why: "the tokenizer's own file decides"},
		{name: "use-beam-search", why: "beam search has no streamed tokens to measure"},
		{name: "profile", why: "the server's profiler is not driven from here: start and stop it yourself"},
		{name: "lora-modules", value: true, why: "requests name one model: run once for each adapter, with --model"},
		{name: "lora-assignment", value: true, neutral: "random", why: "requests name one model"},
		{name: "plot-timeline", why: "no pictures are drawn: the detailed result holds all times"},
		{name: "plot-dataset-stats", why: "no pictures are drawn: see bench dataset show"},
		{name: "timeline-itl-thresholds", value: true, neutral: "25,50", why: "no pictures are drawn"},
		{name: "self-timed", why: "traces with times are sent at their times anyway"},
		{name: "enable-multimodal-chat", why: "images are only sent by dataset random-mm"},
		{name: "random-batch-size", value: true, neutral: "1", why: "embeddings and rerankers are not measured"},
		{name: "no-reranker", why: "embeddings and rerankers are not measured"},
		{
			name: "spec-bench-output-len", value: true, neutral: "256",
			why: "dataset spec_bench is not read: convert it for dataset custom",
		},
		{
			name: "spec-bench-category", value: true,
			why: "dataset spec_bench is not read: convert it for dataset custom",
		},
		{
			name: "speed-bench-dataset-subset", value: true, neutral: "qualitative",
			why: "dataset speed_bench is not read",
		},
		{name: "speed-bench-output-len", value: true, neutral: "4096", why: "dataset speed_bench is not read"},
		{name: "speed-bench-category", value: true, why: "dataset speed_bench is not read"},
		{name: "blazedit-min-distance", value: true, neutral: "0.0", why: "dataset blazedit is not read"},
		{name: "blazedit-max-distance", value: true, neutral: "1.0", why: "dataset blazedit is not read"},
		{name: "asr-max-audio-len-sec", value: true, neutral: "inf", why: "audio is not sent"},
		{name: "asr-min-audio-len-sec", value: true, neutral: "0.0", why: "audio is not sent"},
		{name: "probe-request-rate", value: true, why: "no probes run beside the load"},
		{name: "best-of", value: true, neutral: "1", why: "one answer a request is measured"},
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

// isNeutral reports whether a flag was given its neutral value, however often.
func isNeutral(flag *pflag.Flag, neutral string) bool {
	values, ok := flag.Value.(pflag.SliceValue)
	return ok && !slices.ContainsFunc(values.GetSlice(), func(v string) bool { return v != neutral })
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
