package curves

import (
	"cmp"
	"slices"

	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// MaxRequestRows is how many requests a waterfall shows.
const MaxRequestRows = 400

// worstRows of them are those that took longest; failed requests have as many
// rows again.
const worstRows = MaxRequestRows / 8

// RequestSpan is what a waterfall shows of one request. Times are seconds
// since the pass began.
type RequestSpan struct {
	Index        int
	IntendedS    float64  // when the arrival process wanted it sent
	SentS        *float64 // null: never sent
	FirstS       *float64 // first token; null: none came, or the answer was not streamed
	LastS        *float64 // last token; null: none came
	EndS         float64
	InputTokens  *int
	OutputTokens *int
	Failure      results.FailureClass // "": it succeeded
	Worst        bool                 // kept because it is among the worst
}

// spanOf is a request as a waterfall shows it.
func spanOf(o metrics.Observation) RequestSpan {
	s := RequestSpan{
		Index: o.Index, IntendedS: o.IntendedS, SentS: o.SentS, EndS: o.EndS,
		InputTokens: o.InputTokens, OutputTokens: o.OutputTokens,
	}

	if s.InputTokens == nil {
		s.InputTokens = o.LocalInputTokens
	}
	if n := len(o.TokenS); n > 0 {
		s.LastS = new(o.TokenS[n-1])
		if !o.Whole() {
			s.FirstS = new(o.TokenS[0])
		}
	}

	if o.Failure != nil {
		s.Failure = o.Failure.Class
	}

	return s
}

// TookS is from the moment the request was wanted until its end.
func (s RequestSpan) TookS() float64 { return s.EndS - s.IntendedS }

// waitedS is until the first token, or until the end where none came.
func (s RequestSpan) waitedS() float64 {
	if s.FirstS == nil {
		return s.TookS()
	}
	return *s.FirstS - s.IntendedS
}

// Waterfall chooses the requests of a pass that are drawn. It holds at most a
// few times MaxRequestRows of them. The zero Waterfall is empty.
type Waterfall struct {
	total  int
	every  int // stride of the even sample
	even   []RequestSpan
	slow   worst
	late   worst
	failed worst
}

// AddSpan looks at one request.
func (w *Waterfall) AddSpan(s RequestSpan) {
	if w.every == 0 {
		w.every = 1
	}
	if w.total%w.every == 0 {
		w.even = append(w.even, s)
	}

	w.total++
	if len(w.even) > 2*MaxRequestRows {
		w.halve()
	}
	if s.Failure != "" {
		w.failed.add(s, s.TookS())
		return
	}

	w.slow.add(s, s.TookS())
	w.late.add(s, s.waitedS())
}

// halve keeps every second request of the even sample.
func (w *Waterfall) halve() {
	kept := w.even[:0]
	for i := 0; i < len(w.even); i += 2 {
		kept = append(kept, w.even[i])
	}
	w.even, w.every = kept, w.every*2
}

// Total is the number of requests added.
func (w *Waterfall) Total() int { return w.total }

// Rows are all requests where they are at most MaxRequestRows, else the worst
// (longest in all, longest until the first token, failed) and an even sample
// of the rest; in the order in which they were wanted.
func (w *Waterfall) Rows() []RequestSpan {
	rows := slices.Clone(w.even)
	if w.total > MaxRequestRows {
		rows = w.reduced()
	}
	slices.SortStableFunc(rows, func(a, b RequestSpan) int {
		return cmp.Or(cmp.Compare(a.IntendedS, b.IntendedS), cmp.Compare(a.Index, b.Index))
	})
	return rows
}

func (w *Waterfall) reduced() []RequestSpan {
	var rows []RequestSpan
	seen := map[int]bool{}
	keep := func(s RequestSpan, worst bool) {
		if len(rows) < MaxRequestRows && !seen[s.Index] {
			s.Worst = worst
			rows, seen[s.Index] = append(rows, s), true
		}
	}

	for _, list := range []worst{w.failed, w.slow, w.late} {
		for _, s := range list.spans {
			keep(s.span, true)
		}
	}

	rest := w.even[:0:0]
	for _, s := range w.even {
		if !seen[s.Index] {
			rest = append(rest, s)
		}
	}

	for i, room := 0, min(MaxRequestRows-len(rows), len(rest)); i < room; i++ {
		keep(rest[i*len(rest)/room], false)
	}

	return rows
}

// worst keeps the worstRows spans with the largest badness.
type worst struct{ spans []ranked }

type ranked struct {
	span RequestSpan
	bad  float64
}

func (w *worst) add(s RequestSpan, bad float64) {
	n := len(w.spans)
	if n == worstRows && bad <= w.spans[n-1].bad {
		return
	}
	at, _ := slices.BinarySearchFunc(w.spans, bad, func(r ranked, bad float64) int { return cmp.Compare(bad, r.bad) })
	for at < n && w.spans[at].bad == bad {
		at++
	}
	w.spans = slices.Insert(w.spans, at, ranked{s, bad})
	w.spans = w.spans[:min(len(w.spans), worstRows)]
}
