package scenarios

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Load is one point of the sweep, resolved.
type Load struct {
	Label            string // unique among the points; made of what the sweep varies: "c8", "in128-out64-c8", "all"
	Compat           string // whose prompts, bodies and arrival times to send: "" (ours), "vllm", "vllm-0.10", "vllm-0.6"
	Endpoint         string // request path, "/v1/chat/completions"
	API              string // name of an API, "chat"
	Dataset          Dataset
	NumPrompts       int
	Duration         time.Duration // nothing is sent from then on, and prompts are repeated until then; 0: num-prompts decides
	MaxConcurrency   int           // 0: no cap
	RequestRate      float64       // requests/s; +Inf: all at once
	Burstiness       float64       // 1: Poisson; below: burstier; +Inf: constant gaps
	Ramp             Ramp
	ReplaySpeed      float64       // of a trace's own times, where no rate is given
	ThinkTime        time.Duration // between the turns of a conversation
	InputLen         int           // tokens; 0: the dataset's own
	InputLenSpare    int           // input-len is the server's max-model-len without so many tokens, see For; 0: InputLen says it
	OutputLen        int           // tokens; 0: the dataset's own
	IgnoreEOS        bool
	Stream           bool
	Temperature      *float64
	Sampling         Sampling
	Body             map[string]any // further body fields, merged last
	Headers          map[string]EnvValue
	Warmups          int // requests before the measured ones, with prompts of their own
	Timeouts         Timeouts
	Transport        string // "": the client decides; "sockets", "net/http"
	ReuseConnections bool
	Goodput          map[string]time.Duration // "ttft", "tpot", "e2el" -> goal
	Percentiles      []float64                // 0 to 100, ascending
	MinSuccess       float64                  // share of requests that must succeed, 0 to 1
	KeepText         bool                     // keep the answers' text in the records
	PrefixCache      PrefixCache
	Note             string // what is to be known of the prompts, for every step's warnings; "": nothing
}

// Ramp raises the request rate from the first request to the last.
type Ramp struct {
	Strategy   string  // "linear", "exponential"; "": none
	Start, End float64 // requests/s
}

// Sampling are further sampling parameters; nil is not sent.
type Sampling struct {
	TopP              *float64
	TopK              *int
	MinP              *float64
	FrequencyPenalty  *float64
	PresencePenalty   *float64
	RepetitionPenalty *float64
	Seed              *int
}

// Dataset says where prompts come from.
type Dataset struct {
	Kind             string
	Path             string // absolute; "" where prompts are made up
	Tokenizer        string // absolute path; "": the server's own
	Seed             uint64
	Vary             bool     // other prompts for each point and repeat, so that none is warm in a prefix cache
	TokenIDs         bool     // send token ids, not text
	VocabSize        int      // token ids: exclusive upper bound; 0: the tokenizer's
	RangeRatio       float64  // lengths from l(1-r) to l(1+r)
	OutputRangeRatio *float64 // of the answers; nil: RangeRatio
	PrefixLen        int      // tokens that all prompts, or those of a group, share
	SuffixLen        int      // prefix_repetition: tokens after the prefix
	NumPrefixes      int      // different prefixes
	Shuffle          bool
	Oversample       bool // take prompts again where a file has too few
	Turns            int  // user turns of a conversation
	Images           Images
	Subset           string
	Field            string
	TemplateTokens   int
	BlockLen         int
	TimeUnit         time.Duration
}

// Images of dataset random_mm.
type Images struct {
	PerRequest int
	Sizes      []ImageSize // nil: the dataset's own
	Format     string      // "jpeg", "png"
	Quality    int         // of jpeg, 1 to 100
}

// ImageSize is a size in pixels.
type ImageSize struct{ Width, Height int }

// Timeouts of one request; 0 is no limit.
type Timeouts struct {
	Connect    time.Duration
	FirstToken time.Duration // sent to first data event
	Stall      time.Duration // no byte between two reads
	Total      time.Duration
	Drain      time.Duration // after the load's duration, for what is in flight
}

// For is the point on a server that takes so many tokens a request, prompt and
// answer together; 0: it is not known. The error says why input-len cannot be
// told.
func (l Load) For(maxModelLen int) (Load, error) {
	if l.InputLenSpare == 0 {
		return l, nil
	}
	switch {
	case maxModelLen <= 0:
		return l, fmt.Errorf("input-len is max-model-len - %d, and the server does not say its max-model-len", l.InputLenSpare)
	case maxModelLen <= l.InputLenSpare:
		return l, fmt.Errorf("input-len is max-model-len - %d, and the server's max-model-len is %d", l.InputLenSpare, maxModelLen)
	}
	l.InputLen, l.InputLenSpare = maxModelLen-l.InputLenSpare, 0
	return l, nil
}

// InputLenLabel is the part of a label that tells input-len.
func InputLenLabel(l Load) string {
	if l.InputLenSpare > 0 {
		return "max-" + strconv.Itoa(l.InputLenSpare)
	}
	return strconv.Itoa(l.InputLen)
}

// Above reports whether a point asks for at least as much of request-rate and
// max-concurrency as another, for more of one, and for the same lengths.
func (l Load) Above(o Load) bool {
	cap := func(n int) float64 {
		if n == 0 {
			return math.Inf(1)
		}
		return float64(n)
	}
	same := l.InputLen == o.InputLen && l.InputLenSpare == o.InputLenSpare && l.OutputLen == o.OutputLen
	noLess := l.RequestRate >= o.RequestRate && cap(l.MaxConcurrency) >= cap(o.MaxConcurrency)
	return same && noLess && (l.RequestRate > o.RequestRate || cap(l.MaxConcurrency) > cap(o.MaxConcurrency))
}
