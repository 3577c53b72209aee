package spec

import (
	"cmp"
	"slices"
	"time"
)

// Class is one of the kinds of request that a load mixes. What it does not set
// is as for the whole load.
type Class struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"` // of the requests, 0 to 1; those of all classes add up to 1
	// LoRA adapters among which its requests are split; none: they ask for the load's model
	Adapters []Adapter `json:"adapters,omitempty"`

	Dataset     string `json:"dataset"`                // kind
	DatasetPath string `json:"dataset_path,omitempty"` // "": made up
	InputLen    int    `json:"input_len,omitempty"`    // tokens; 0: the dataset's own
	OutputLen   int    `json:"output_len,omitempty"`

	// of its requests, in place of those of the load
	IgnoreEOS bool           `json:"ignore_eos"`
	Sampling  Sampling       `json:"sampling"`
	Body      map[string]any `json:"body"`
	Tools     []any          `json:"tools,omitempty"`

	GoodputS map[string]float64 `json:"goodput_goals_s,omitempty"` // by "ttft", "tpot", "e2el"
}

// GoalsS are goals in seconds; nil: there are none.
func GoalsS(goals map[string]time.Duration) map[string]float64 {
	if len(goals) == 0 {
		return nil
	}
	all := make(map[string]float64, len(goals))
	for name, goal := range goals {
		all[name] = goal.Seconds()
	}
	return all
}

// ClassSeed is between the seeds of the prompts of a class and of the next one: no
// two classes have the same prompts.
const ClassSeed = 2_000_003

// Adapter is a LoRA adapter by the name under which the server serves it, and its
// share of the requests of a class or load.
type Adapter struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"` // 0 to 1; those of all adapters add up to 1
}

// NormalizeClasses turns the shares of classes, which are weights, into parts of 1.
func NormalizeClasses(all []Class) { normalize(all, func(c *Class) *float64 { return &c.Share }) }

// NormalizeAdapters does the same for adapters.
func NormalizeAdapters(all []Adapter) { normalize(all, func(a *Adapter) *float64 { return &a.Share }) }

func normalize[T any](all []T, share func(*T) *float64) {
	sum := 0.0
	for i := range all {
		sum += *share(&all[i])
	}
	for i := range all {
		*share(&all[i]) /= sum
	}
}

// Kind is what one request of a load is: of which class, and for which adapter.
type Kind struct {
	Class   int     // from 1; 0: the load has no classes
	Adapter string  // "": the load's model
	Share   float64 // of all requests, 0 to 1
}

// Kinds are the kinds of request of a load; nil where all are alike.
func (s *Settings) Kinds() []Kind {
	if len(s.Classes) == 0 {
		return kindsOf(0, 1, s.Adapters)
	}
	var all []Kind
	for i, c := range s.Classes {
		own := kindsOf(i+1, c.Share, c.Adapters)
		if own == nil {
			own = []Kind{{Class: i + 1, Share: c.Share}}
		}
		all = append(all, own...)
	}
	return all
}

func kindsOf(class int, share float64, adapters []Adapter) []Kind {
	var all []Kind
	for _, a := range adapters {
		all = append(all, Kind{Class: class, Adapter: a.Name, Share: share * a.Share})
	}
	return all
}

// OfClass are the settings of the requests of a class, numbered from 1; 0: of
// those of none.
func (s *Settings) OfClass(number int) *Settings {
	if number < 1 || number > len(s.Classes) {
		return s
	}
	own, c := *s, &s.Classes[number-1]
	own.IgnoreEOS, own.Sampling, own.Body, own.Tools = c.IgnoreEOS, c.Sampling, c.Body, c.Tools
	return &own
}

// Counts is how many of n requests are of each kind: its share rounded down, and
// one more for those that lose most by that.
func Counts(kinds []Kind, n int) []int {
	counts, lost := make([]int, len(kinds)), make([]float64, len(kinds))
	byLoss := make([]int, len(kinds))
	left := n
	for i, k := range kinds {
		exact := k.Share * float64(n)
		counts[i] = min(int(exact+1e-9), left)
		lost[i], byLoss[i] = exact-float64(counts[i]), i
		left -= counts[i]
	}

	slices.SortStableFunc(byLoss, func(a, b int) int { return cmp.Compare(lost[b], lost[a]) })
	for i := range left {
		counts[byLoss[i%len(byLoss)]]++
	}
	return counts
}

// InTurn is how many of n requests are of each kind where kinds take turns.
func InTurn(kinds []Kind, n int) []int {
	counts := make([]int, len(kinds))
	for i := range n {
		counts[i%len(kinds)]++
	}
	return counts
}

// OfClass is how many of the requests counted by kind are of a class, numbered from 1.
func OfClass(kinds []Kind, counts []int, class int) int {
	n := 0
	for i, k := range kinds {
		if k.Class == class {
			n += counts[i]
		}
	}
	return n
}

// MixedWarmups is how many warm-ups are sent where so many are asked for: each
// kind has one at least, unless there are to be none.
func MixedWarmups(kinds []Kind, asked int) int {
	if asked == 0 {
		return 0
	}
	return max(asked, len(kinds))
}
