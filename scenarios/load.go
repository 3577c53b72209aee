package scenarios

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"

	"github.com/benchrig/bench/load/spec"
)

// Load is one point of the sweep, resolved.
type Load struct {
	spec.Settings

	Label       string // unique among the points; made of what the sweep varies: "c8", "in128-out64-c8", "all"
	Endpoint    string // request path, "/v1/chat/completions"
	API         string // name of an API, "chat"
	Dataset     Dataset
	NumPrompts  int
	RequestRate float64 // requests/s; +Inf: all at once
	Burstiness  float64 // 1: Poisson; below: burstier; +Inf: constant gaps
	Ramp        spec.Ramp
	ReplaySpeed float64 // of a trace's own times, where no rate is given
	InputLen    int     // tokens; 0: the dataset's own
	// input-len is the server's max-model-len without so many tokens, see For; 0: InputLen says it
	ContextReserve int
	OutputLen      int // tokens; 0: the dataset's own
	Headers        map[string]EnvValue
	Warmups        int                      // requests before the measured ones, with prompts of their own
	Goodput        map[string]time.Duration // "ttft", "tpot", "e2el" -> goal
	Percentiles    []float64                // 0 to 100, ascending
	MinSuccess     float64                  // share of requests that must succeed, 0 to 1
	PrefixCache    PrefixCache
	Priority       *int // in the request body; nil: none is sent
	// the load as each of Classes has it, as if it were alone; NumPrompts and Warmups are those of the class
	OfClass []Load
	Caches  StartCaches // of method cold-start
	Note    string      // what is to be known of the prompts, for every step's warnings; "": nothing
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
	BatchSize        int      // texts of one request
	Shuffle          bool
	Oversample       bool // take prompts again where a file has too few
	Turns            int  // user turns of a conversation
	Images           Images
	AudioLen         time.Duration // random_audio: of a file
	Subset           string
	Field            string
	TemplateTokens   int
	BlockLen         int
	TimeUnit         time.Duration
	MaxWait          time.Duration
	SubAgents        int
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

var imageSize = regexp.MustCompile(`^([1-9][0-9]{0,3})x([1-9][0-9]{0,3})$`)

// ParseImageSize reads WIDTHxHEIGHT, each from 1 to 9999 pixels.
func ParseImageSize(text string) (size ImageSize, ok bool) {
	m := imageSize.FindStringSubmatch(text)
	if m == nil {
		return size, false
	}
	size.Width, _ = strconv.Atoi(m[1]) // digits
	size.Height, _ = strconv.Atoi(m[2])
	return size, true
}

// For is the point on a server that takes so many tokens a request, prompt and
// answer together; 0: it is not known. The error says why input-len cannot be
// told.
func (l Load) For(maxModelLen int) (Load, error) {
	if l.ContextReserve == 0 {
		return l, nil
	}
	switch {
	case maxModelLen <= 0:
		return l, fmt.Errorf("input-len is max-model-len - %d, and the server does not say its max-model-len",
			l.ContextReserve)
	case maxModelLen <= l.ContextReserve:
		return l, fmt.Errorf("input-len is max-model-len - %d, and the server's max-model-len is %d", l.ContextReserve,
			maxModelLen)
	}
	l.InputLen, l.ContextReserve = maxModelLen-l.ContextReserve, 0
	return l, nil
}

// InputLenLabel is the part of a label that shows input-len.
func InputLenLabel(l Load) string {
	if l.ContextReserve > 0 {
		return "max-" + strconv.Itoa(l.ContextReserve)
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
	same := l.InputLen == o.InputLen && l.ContextReserve == o.ContextReserve && l.OutputLen == o.OutputLen
	noLess := l.RequestRate >= o.RequestRate && cap(l.MaxConcurrency) >= cap(o.MaxConcurrency)
	return same && noLess && (l.RequestRate > o.RequestRate || cap(l.MaxConcurrency) > cap(o.MaxConcurrency))
}
