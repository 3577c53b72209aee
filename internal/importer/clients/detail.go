package clients

import (
	"fmt"
	"math"
	"slices"

	"github.com/benchrig/bench/internal/importer/lenient"
	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/internal/importer/stated"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// requests are the arrays of a result that was saved with --save-detailed.
type requests struct {
	ttfts, latencies, starts, queues []float64
	itls                             [][]float64
	inputs, outputs                  []int
	errors, texts                    []string
}

// readDetail reads the arrays of single requests: distributions are computed from
// them again and compared with those stated, and where the start of each request is
// known there are records.
func readDetail(e *stated.Entry, o lenient.Object) {
	var r requests
	if !o.Into("ttfts", &r.ttfts) || !o.Into("itls", &r.itls) || len(r.ttfts) == 0 {
		return
	}

	o.Into("input_lens", &r.inputs)
	o.Into("output_lens", &r.outputs)
	o.Into("latencies", &r.latencies)
	o.Into("start_times", &r.starts)
	o.Into("queue_times", &r.queues)
	o.Into("errors", &r.errors)
	o.Into("generated_texts", &r.texts)
	n := len(r.ttfts)
	if len(r.itls) != n || len(r.outputs) != n || r.errors != nil && len(r.errors) != n || r.inputs != nil &&
		len(r.inputs) != n {
		e.Warn(results.WarnImportedDiffers, "the arrays of single requests differ in length (ttfts %d, itls %d, "+
			"output_lens %d, errors %d): they are not used", n, len(r.itls), len(r.outputs), len(r.errors))
		return
	}

	good := r.successes()
	if len(good) != e.Figures.Completed {
		e.Warn(results.WarnImportedDiffers, "%d of the single requests succeeded, and %d are stated as completed: "+
			"the arrays are not used", len(good), e.Figures.Completed)
		return
	}

	recompute(e, r, good)
	addFailures(e, r)
	if len(r.starts) == n {
		e.Records = r.records()
	}
}

// successes returns the indices of the requests that count.
func (r requests) successes() []int {
	var good []int
	for i := range r.ttfts {
		if r.errors != nil && r.errors[i] == "" || r.errors == nil && r.outputs[i] > 0 {
			good = append(good, i)
		}
	}
	return good
}

// recompute takes distributions from the arrays, with all percentiles that are
// stated and the usual ones.
func recompute(e *stated.Entry, r requests, good []int) {
	var ttft, tpot, itl, e2el []float64
	// Older clients end a request with an event whose time they do not save.
	hasEnds := e.Origin.Format == VLLM && (len(r.latencies) == len(r.ttfts) || len(good) == 0)
	for _, i := range good {
		ttft, itl = append(ttft, r.ttfts[i]), append(itl, r.itls[i]...)
		if !hasEnds {
			continue
		}
		e2el = append(e2el, r.latencies[i])
		if r.outputs[i] > 1 {
			tpot = append(tpot, (r.latencies[i]-r.ttfts[i])/float64(r.outputs[i]-1))
		}
	}

	f := &e.Figures
	replaceDist(e, "ttft", &f.TTFT, ttft)
	replaceDist(e, "itl", &f.ITL, itl)
	f.ICL = f.ITL
	if hasEnds {
		replaceDist(e, "tpot", &f.TPOT, tpot)
		replaceDist(e, "e2el", &f.E2EL, e2el)
	}

	input, output := 0, 0
	for _, i := range good {
		output += r.outputs[i]
		if r.inputs != nil {
			input += r.inputs[i]
		}
	}

	compareTotal(e, "total_output_tokens", f.TotalOutputTokens, output)
	if r.inputs != nil {
		compareTotal(e, "total_input_tokens", f.TotalInputTokens, input)
	}
}

// addFailures counts the requests that failed, in their client's words.
func addFailures(e *stated.Entry, r requests) {
	f := &e.Figures
	for _, message := range r.errors {
		if message == "" {
			continue
		}
		if f.Failures == nil {
			f.Failures = map[results.FailureClass]int{}
		}
		f.Failures[results.FailUnclassified]++
		const most = 5
		if len(f.FailureSamples) < most {
			f.FailureSamples = text.AppendNew(f.FailureSamples, shownLine(message))
		}
	}
}

// shownLine returns the last line of a message, which names the error of a traceback.
func shownLine(message string) string { return plain.Shown(text.LastLine(message)) }

func compareTotal(e *stated.Entry, name string, stated *int64, sum int) {
	if stated != nil && *stated != int64(sum) {
		e.Warn(results.WarnImportedDiffers, "%s is stated as %d, and the single requests give %d", name, *stated, sum)
	}
}

// exactly is the share by which a stated figure may differ from the one that is
// computed again.
const exactly = 1e-6

// replaceDist replaces stated figures by the distribution of the sample, and warns where
// the two disagree.
func replaceDist(e *stated.Entry, name string, stated *results.Dist, sample []float64) {
	percentiles := []float64{50, 90, 95, 99}
	for _, p := range stated.Percentiles {
		if !slices.Contains(percentiles, p.P) {
			percentiles = append(percentiles, p.P)
		}
	}

	slices.Sort(percentiles)
	again := metrics.Describe(sample, percentiles)
	compareFigure(e, "mean_"+name, stated.Mean, again.Mean)
	compareFigure(e, "median_"+name, stated.Median, again.Median)
	compareFigure(e, "std_"+name, stated.Std, again.Std)
	for _, p := range stated.Percentiles {
		compareFigure(e, fmt.Sprintf("p%g_%s", p.P, name), p.Value, metrics.At(again, p.P))
	}

	*stated = again
}

func compareFigure(e *stated.Entry, name string, stated, again *float64) {
	if stated == nil || again == nil {
		if stated != nil && *stated != 0 { // vLLM states 0 of nothing
			e.Warn(results.WarnImportedDiffers, "%s is stated, and there is no sample of it", name)
		}
		return
	}
	if math.Abs(*stated-*again) > exactly*math.Max(math.Abs(*again), 1e-6) {
		e.Warn(results.WarnImportedDiffers, "%s is stated as %.6g ms, and the single requests give %.6g ms", name,
			1000**stated, 1000**again)
	}
}

// arrivals returns the times at which the requests were to be sent, on the clock of
// their starts. Older clients do not save how long a request waited for others.
func (r requests) arrivals() []float64 {
	if len(r.queues) != len(r.starts) {
		return r.starts
	}
	arrivals := slices.Clone(r.starts)
	for i, waited := range r.queues {
		arrivals[i] -= max(waited, 0)
	}
	return arrivals
}

// records returns one record for each request. Every gap that was saved is a chunk; what
// the chunks carried was not saved.
func (r requests) records() []results.Record {
	arrivals := r.arrivals()
	begin := slices.Min(arrivals)
	all := make([]results.Record, len(r.ttfts))
	for i := range all {
		start := r.starts[i] - begin
		rec := results.Record{
			Index: i, IntendedS: arrivals[i] - begin, SentS: &start, EndS: start,
			OutputTokens: &r.outputs[i], OutputTokensSource: results.CountImported,
		}
		if r.inputs != nil {
			rec.LocalInputTokens = &r.inputs[i]
		}
		if len(r.texts) == len(all) {
			rec.Text = r.texts[i]
		}
		at := start + r.ttfts[i]
		if r.ttfts[i] > 0 {
			rec.ChunkS = append(rec.ChunkS, at)
			for _, gap := range r.itls[i] {
				at += gap
				rec.ChunkS = append(rec.ChunkS, at)
			}
			rec.EndS = at
		}
		kinds := make([]byte, len(rec.ChunkS))
		for k := range kinds {
			kinds[k] = byte(results.ChunkText)
		}
		rec.ChunkKinds = string(kinds)
		if r.errors != nil && r.errors[i] != "" {
			rec.Failure, rec.OutputTokens = results.Failf(results.FailUnclassified, "%s", shownLine(r.errors[i])), nil
		}
		all[i] = rec
	}

	return all
}
