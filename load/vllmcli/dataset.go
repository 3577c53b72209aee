package vllmcli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/benchrig/bench/dataset"
)

var inf = math.Inf(1)

// DatasetFlags say which prompts to send.
type DatasetFlags struct {
	Name       string
	Path       string
	NumPrompts int
	Seed       uint64
	Tokenizer  string // path; "": the server's own; "none": none
	SkipInit   bool   // vLLM's way to say "none"
	Compat     string // "", "vllm", "vllm-0.6"
	NoOversample,
	NoShuffle,
	SkipTemplate bool
	InputLen, OutputLen int // of whichever dataset; 0: that dataset's own flags

	RandomInputLen, RandomOutputLen, RandomPrefixLen int
	RandomRangeRatio                                 string
	TokenIDs                                         bool
	BatchSize                                        int
	NoOutput                                         bool // set by Parse: the server makes no tokens
	NoReranker                                       bool

	MMItems   int
	MMRange   float64
	MMLimit   string
	MMBuckets string

	AudioLenS float64 // random-audio: seconds of a file

	ShareGPTOutputLen, CustomOutputLen                         int
	SonnetInputLen, SonnetOutputLen, SonnetPrefixLen           int
	PrefixLen, SuffixLen, NumPrefixes, PrefixRepetitionOutputs int

	HFSubset, HFSplit, HFName string
	Field                     string // column of the file; "": found by its name
	HFOutputLen               int
	Turns, SubAgents          int

	TraceBlock int     // timed_trace: tokens of a hashed block; 0: vLLM's default
	TraceUnitS float64 // timed_trace: seconds of a time stamp's unit; 0: vLLM's default
	TraceKeys  dataset.TraceKeys
	MaxWait    time.Duration // sessions: longest wait between requests; 0: as recorded
}

// AddFlags defines the flags of datasets, for load and for dataset build.
func (d *DatasetFlags) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&d.Name, "dataset-name", "random", "dataset: "+strings.Join(datasetNames(), ", "))
	fs.StringVar(&d.Path, "dataset-path", "", "`file` of the dataset")
	fs.IntVar(&d.NumPrompts, "num-prompts", 1000, "prompts to send")
	fs.Uint64Var(&d.Seed, "seed", 0, "seed of the prompts and the arrival times")
	fs.StringVar(&d.Tokenizer, "tokenizer", "",
		"tokenizer.json, its folder, or a GGUF `file`; none: count nothing (default: the server's own /tokenize)")
	fs.BoolVar(&d.SkipInit, "skip-tokenizer-init", false, "the same as --tokenizer none")
	fs.StringVar(&d.Compat, "compat", "", "match this vLLM version exactly: prompts, requests, timings, metrics: vllm "+
		"(the newest), vllm-0.10 or vllm-0.6 (not in vLLM)")
	fs.BoolVar(&d.NoOversample, "no-oversample", false, "do not repeat prompts to reach --num-prompts")
	fs.BoolVar(&d.NoShuffle, "disable-shuffle", false, "take prompts in the file's order")
	fs.BoolVar(&d.SkipTemplate, "skip-chat-template", false, "custom: send prompts unchanged; bench always does")
	fs.IntVar(&d.InputLen, "input-len", 0, "prompt tokens, for generated prompts")
	fs.IntVar(&d.OutputLen, "output-len", 0, "output tokens, for any dataset")
	d.addMade(fs)
	d.addFiles(fs)
}

// addMade defines the flags of prompts that are made up.
func (d *DatasetFlags) addMade(fs *pflag.FlagSet) {
	fs.IntVar(&d.RandomInputLen, "random-input-len", 1024, "random: prompt tokens")
	fs.IntVar(&d.RandomOutputLen, "random-output-len", 128, "random: output tokens")
	fs.StringVar(&d.RandomRangeRatio, "random-range-ratio", "",
		`random: lengths from l(1-r) to l(1+r); a number or {"input":r,"output":r} (default 0)`)
	fs.IntVar(&d.RandomPrefixLen, "random-prefix-len", 0,
		"random: length of a prefix that all prompts share, in addition to --random-input-len")
	fs.IntVar(&d.BatchSize, "random-batch-size", 1, "random: prompts in one request, for embeddings; random-rerank: "+
		"documents in one request; --num-prompts counts them all")
	fs.BoolVar(&d.NoReranker, "no-reranker", false, "random-rerank: not supported; the server must be a reranker")
	fs.BoolVar(&d.TokenIDs, "prompt-token-ids", false, "random: send token ids, not text (not in vLLM's Python client)")

	fs.IntVar(&d.MMItems, "random-mm-base-items-per-request", 1, "random-mm: images in a prompt")
	fs.Float64Var(&d.MMRange, "random-mm-num-mm-items-range-ratio", 0, "random-mm: only 0 is supported")
	fs.StringVar(&d.MMLimit, "random-mm-limit-mm-per-prompt", "",
		"random-mm: `JSON` with the maximum number of items of each kind")
	fs.StringVar(&d.MMBuckets, "random-mm-bucket-config", "",
		"random-mm: `{(height, width, 1): share, ...}`, sizes of images")

	fs.Float64Var(&d.AudioLenS, "random-audio-len-sec", 10,
		"random-audio: `seconds` of a file; --random-range-ratio draws others around it (not in vLLM)")

	fs.IntVar(&d.PrefixLen, "prefix-repetition-prefix-len", 256, "prefix_repetition: tokens of a prefix")
	fs.IntVar(&d.SuffixLen, "prefix-repetition-suffix-len", 256, "prefix_repetition: tokens after the prefix")
	fs.IntVar(&d.NumPrefixes, "prefix-repetition-num-prefixes", 10, "prefix_repetition: number of different prefixes")
	fs.IntVar(&d.PrefixRepetitionOutputs, "prefix-repetition-output-len", 128, "prefix_repetition: output tokens")
}

// addFiles defines the flags of prompts that are in a file.
func (d *DatasetFlags) addFiles(fs *pflag.FlagSet) {
	fs.IntVar(&d.ShareGPTOutputLen, "sharegpt-output-len", 0,
		"sharegpt: output tokens (default: as long as the answer in the file)")
	fs.IntVar(&d.CustomOutputLen, "custom-output-len", 256, "custom: output tokens; -1: the file's output_tokens")
	fs.IntVar(&d.SonnetInputLen, "sonnet-input-len", 550, "sonnet: prompt tokens")
	fs.IntVar(&d.SonnetOutputLen, "sonnet-output-len", 150, "sonnet: output tokens")
	fs.IntVar(&d.SonnetPrefixLen, "sonnet-prefix-len", 200, "sonnet: tokens shared by all prompts")
	fs.StringVar(&d.HFSubset, "hf-subset", "", "hf: rows of this subset")
	fs.StringVar(&d.HFSplit, "hf-split", "", "hf: accepted without effect: give the file of the split as "+
		"--dataset-path")
	fs.StringVar(&d.HFName, "hf-name", "", "hf: name of the dataset, recorded only")
	fs.IntVar(&d.HFOutputLen, "hf-output-len", 0, "hf: output tokens (default: as long as the answer in the file)")
	fs.StringVar(&d.Field, "dataset-field", "",
		"hf, tok_inputs: `column` with the prompts (default: found by its name; not in vLLM)")
	fs.IntVar(&d.Turns, "turns", 0, "sharegpt, hf, conversation: user turns in each (not in vLLM)")
	fs.IntVar(&d.SubAgents, "sub-agents", 0,
		"conversation: number of sub-agents that each starts after its first turn (not in vLLM)")
	d.addTrace(fs)
}

// addTrace defines the flags of traces with times.
func (d *DatasetFlags) addTrace(fs *pflag.FlagSet) {
	fs.IntVar(&d.TraceBlock, "timed-trace-chunk-hash-size", 0,
		"timed_trace: tokens of a hashed block (default 16; trace: found from the lengths)")
	fs.Float64Var(&d.TraceUnitS, "timed-trace-sec-multiplier", 0,
		"timed_trace: unit of the time stamps in seconds (default 1; trace: found from the block)")
	fs.DurationVar(&d.MaxWait, "session-max-wait", 0,
		"sessions: longest wait between the requests of a session (default: as recorded; not in vLLM)")
	k := &d.TraceKeys
	fs.StringVar(&k.Timestamp, "timed-trace-label-timestamp", "timestamp", "timed_trace: `key` of the time stamp")
	fs.StringVar(&k.InputLength, "timed-trace-label-input-length", "input_length",
		"timed_trace: `key` of the prompt's tokens")
	fs.StringVar(&k.OutputLength, "timed-trace-label-output-length", "output_length",
		"timed_trace: `key` of the answer's tokens")
	fs.StringVar(&k.HashIDs, "timed-trace-label-hash-ids", "hash_ids", "timed_trace: `key` of the blocks' hashes")
}

// randomRerank is vLLM's name for queries with documents.
const randomRerank = "random-rerank"

// randomAudio is spelled as the others are.
const randomAudio = "random-audio"

// timedTrace is vLLM's name for traces with times.
const timedTrace = "timed_trace"

// kindOf is the kind of package dataset that a name stands for.
func kindOf(name string) string {
	if name == timedTrace {
		return "trace"
	}
	if rest, ok := strings.CutPrefix(name, "random-"); ok {
		return "random_" + rest
	}
	return name
}

// spelled spells kinds of datasets as vLLM does.
func spelled(kinds string) string { return strings.ReplaceAll(kinds, "random_", "random-") }

// datasetNames are the names that --dataset-name takes.
func datasetNames() []string {
	names := dataset.Kinds()
	for i := range names {
		names[i] = spelled(names[i])
	}
	return slices.Insert(names, slices.Index(names, "trace"), timedTrace)
}

// otherDatasets are names that vLLM's clients take and this one does not, each
// with the reason.
func otherDatasets() map[string]string {
	const media = "files of images are not read: random-mm makes images up; WAV files are, with --dataset-name audio"
	return map[string]string{
		"spec_bench": noSpecBench, "speed_bench": noSpeedy, "speed-bench": noSpeedy,
		"custom_image": media, "custom_audio": media, "custom_mm": media,
		"txt-slices": "see --dataset-name text, which cuts any text",
	}
}

// Spec is the dataset that the flags ask for.
func (d *DatasetFlags) Spec() (dataset.Spec, error) {
	if why, known := otherDatasets()[d.Name]; known {
		return dataset.Spec{}, fmt.Errorf("--dataset-name %s is not supported: %s", d.Name, why)
	}
	if !slices.Contains(datasetNames(), d.Name) {
		return dataset.Spec{}, fmt.Errorf("--dataset-name %q: want one of %s", d.Name,
			strings.Join(datasetNames(), ", "))
	}

	s := dataset.Spec{
		Kind: kindOf(d.Name), Path: d.Path, Seed: d.Seed, N: d.NumPrompts, Compat: d.Compat,
		NoOversample: d.NoOversample, Shuffle: !d.NoShuffle, Turns: d.Turns, SubAgents: d.SubAgents,
	}
	if err := d.fill(&s); err != nil {
		return s, err
	}

	if d.InputLen > 0 {
		s.InputLen = d.InputLen
	}
	if d.OutputLen > 0 {
		s.OutputLen = d.OutputLen
	}
	if s.NoOutput = d.NoOutput; d.NoOutput {
		s.OutputLen = 0
	}
	return s, nil
}

// MeanInputLen is the length of the prompts that was asked for, in tokens, where
// they are made up and of one length; nil: the dataset's own.
func (d *DatasetFlags) MeanInputLen() *int {
	s, err := d.Spec()
	if err != nil || s.Kind != "random" || s.RangeRatio != 0 || s.Compat == dataset.CompatVLLM06 || s.InputLen == 0 {
		return nil
	}
	return new(s.PrefixLen + s.InputLen)
}

// fill sets what the dataset's own flags say.
func (d *DatasetFlags) fill(s *dataset.Spec) error {
	switch d.Name {
	case "random", "random-mm", randomRerank:
		return d.fillRandom(s)
	case randomAudio:
		s.AudioS = d.AudioLenS
		return d.rangeRatio(s)
	case "sharegpt":
		s.OutputLen = d.ShareGPTOutputLen
	case "custom":
		s.OutputLen = max(d.CustomOutputLen, 0)
	case "sonnet":
		s.InputLen, s.OutputLen, s.PrefixLen = d.SonnetInputLen, d.SonnetOutputLen, d.SonnetPrefixLen
	case "prefix_repetition":
		s.PrefixLen = d.PrefixLen
		s.SuffixLen = d.SuffixLen
		s.NumPrefixes = d.NumPrefixes
		s.OutputLen = d.PrefixRepetitionOutputs
		s.TokenIDs = d.TokenIDs
	case "shared_prefix":
		s.PrefixLen = d.PrefixLen
		s.InputLen = d.SuffixLen
		s.NumPrefixes = d.NumPrefixes
		s.OutputLen = d.PrefixRepetitionOutputs
		s.TokenIDs, s.Shuffle = d.TokenIDs, false
	case "text", "conversation":
		s.InputLen, s.OutputLen, s.Shuffle = d.RandomInputLen, d.RandomOutputLen, false
		return d.rangeRatio(s)
	case "burstgpt":
		s.TokenIDs, s.Shuffle = d.TokenIDs, false
	case "trace", timedTrace:
		s.TokenIDs, s.Shuffle, s.TraceKeys = d.TokenIDs, false, d.TraceKeys
		s.BlockLen, s.TimeUnitS = d.TraceBlock, d.TraceUnitS
		if d.Name == timedTrace { // vLLM's defaults
			s.BlockLen, s.TimeUnitS = cmp.Or(d.TraceBlock, 16), cmp.Or(d.TraceUnitS, 1)
		}
	case "sessions":
		s.TokenIDs, s.Shuffle, s.BlockLen, s.MaxWaitS = d.TokenIDs, false, d.TraceBlock, d.MaxWait.Seconds()
	case "hf":
		s.Subset, s.OutputLen, s.Field = d.HFSubset, d.HFOutputLen, d.Field
	case "tok_inputs":
		s.Shuffle, s.Field = false, d.Field
	}

	return nil
}

// fillRandom sets what the flags of made-up prompts say.
func (d *DatasetFlags) fillRandom(s *dataset.Spec) error {
	s.N = (d.NumPrompts + d.BatchSize - 1) / d.BatchSize
	if d.BatchSize > 1 {
		s.BatchSize = d.BatchSize
	}

	s.InputLen, s.OutputLen, s.PrefixLen = d.RandomInputLen, d.RandomOutputLen, d.RandomPrefixLen
	s.TokenIDs = d.TokenIDs
	if d.Name == "random-mm" {
		if err := d.images(s); err != nil {
			return err
		}
	}
	return d.rangeRatio(s)
}

// rangeRatio reads a number, or an object with one for prompts and answers.
func (d *DatasetFlags) rangeRatio(s *dataset.Spec) error {
	text := d.RandomRangeRatio
	if text == "" {
		return nil
	}
	if r, err := strconv.ParseFloat(text, 64); err == nil {
		s.RangeRatio = r
		return nil
	}
	var both struct {
		Input  *float64 `json:"input"`
		Output *float64 `json:"output"`
	}
	if err := json.Unmarshal([]byte(text), &both); err != nil || both.Input == nil || both.Output == nil {
		return fmt.Errorf(`--random-range-ratio %q: want a number or {"input":0.2,"output":0.1}`, text)
	}
	s.RangeRatio, s.RangeRatioOutput = *both.Input, both.Output
	return nil
}
