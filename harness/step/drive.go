package step

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/dataset/exact"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/metrics/early"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// Job is one measured pass of the client over servers that are up, with
// what its figures are judged by. Runner makes one per step; bench load makes
// its own.
type Job struct {
	Driver  Driver
	Servers []Server // whose counters are read before and after
	Options load.Options
	Prompts []load.Prompt
	Warmups []load.Prompt // sent before, never measured
	Probes  Probes        // sent beside the measured pass, and no part of it
	Watch   []Observer    // what is watched beside the measured pass
	Records RecordWriter  // gets each record as it comes, and is closed at the end; nil: nobody does
	Live    *status.Live  // shows what happens; nil: nothing does
	// measures the quality of the answers after the pass; nil: nobody does
	Evaluator func(ctx context.Context) *results.CommandScore
	Cache     CacheRequest       // what the pass was to find in the servers' prefix caches
	Limits    scenarios.Watchdog // what ends the job while it runs

	// CountText counts the tokens of every answer's text for its record, after
	// the last request has ended. Nil: nobody counts.
	CountText func(ctx context.Context, text string) (int, error)
	KeepText  bool // else texts that CountText needed are dropped

	Percentiles []float64
	Goodput     map[string]time.Duration // "ttft", "tpot", "e2el" -> goal
	MinSuccess  float64                  // share of the requests that must succeed, 0 to 1
}

// Observer watches something beside the measured pass.
type Observer interface {
	// Begin is called with second 0 of the pass, before anything is sent. End
	// with ctx ends the pass.
	Begin(ctx context.Context, zero time.Time)
	// End is called once after Begin, when the last request has ended, and adds
	// what was seen to the result: raw samples are on disk by then. An error is
	// about the record keeping.
	End(result *results.Result) error
}

// RecordWriter stores records.
type RecordWriter interface {
	Write(results.Record) error
	Replace([]results.Record) error // all that were written, by better ones
	Close() error
}

// Pass is one drive of the load client and all that it left.
type Pass struct {
	records  []results.Record
	client   *results.ClientReport
	counters []map[string]float64 // change of each server's counters
	outer    []map[string]float64 // of those to which requests go
	Failure  *results.Failure     // why it ended early; nil: it did not
	Began    bool                 // observers were notified
	early    *early.Watch         // nil: the pass may not end early
	probes   []results.Record     // of the probes beside it
	again    []results.Record     // of the requests that were sent again after it
	fresh    []results.Record     // of the new prompts sent between these
	last     results.FailureClass // of the warm-up's last failed request, or the pass's; "": none failed of itself
}

// Drive carries a job out and fills in its result: figures, doubts, verdict.
// What was measured before ctx ended is kept, and the result says why it ended.
func Drive(ctx context.Context, job Job, result *results.Result) []results.Record {
	result.StartedAt = results.Now()
	p := job.run(ctx, result)
	job.Complete(result, p)
	return p.records
}

// run drives the warm-up and the measured pass, the counters around it.
func (j Job) run(ctx context.Context, result *results.Result) (out Pass) {
	ctx, observe, free := guardProgress(ctx, j.limits())
	defer free()
	warnOfPauses := NoticePauses(context.WithoutCancel(ctx))
	defer warnOfPauses(result)
	j.Options.Progress = notifyBoth(observe, j.Options.Progress)

	var spoiled *results.Failure // the figures are of no server or of several
	warm, err := j.warmUp(ctx, observe)
	if refusesLimitField(err) && j.Options.MaxTokensField == "" {
		warm, err = j.learnLimitField(ctx, observe, result)
	}
	out.last = warm

	if err == nil {
		before, holders := counters(ctx, j.Servers), portHolders(j.Servers)
		j.Live.BeginPass(result.Asked)
		out, err = j.drive(ctx)
		j.Live.Enter(results.LiveFinishing, 0, "")
		err = errors.Join(err, j.EndWatch(out, result))
		after := settledCounters(ctx, j.Servers, before, slices.Concat(out.records, out.probes))
		out.counters, spoiled = changes(before, after), countersWentBack(j.Servers, before, after, result.ServerMetrics)
		out.outer = ofRequests(j.Servers, out.counters)
		warnReplaced(result, j.Servers, holders)
		if err == nil && ctx.Err() == nil {
			out.again, out.fresh, err = j.resend(ctx, observe)
		}
		if err == nil && ctx.Err() == nil {
			result.Evaluation, err = j.evaluate(ctx, observe)
		}
		if err == nil && ctx.Err() == nil && j.Evaluator != nil {
			result.CommandScore = j.Evaluator(ctx)
		}
		if other := answeredByOthers(ctx, j.Servers); other != nil {
			spoiled = other
		}
	}

	if j.Records != nil {
		if closed := j.Records.Close(); closed != nil && err == nil {
			err = results.WriteFailure(closed)
		}
	}

	waitForExitNotice(ctx, out.last, j.Servers)
	if err != nil || ctx.Err() != nil {
		out.Failure = FailureOf(ctx, err)
	}
	if spoiled != nil && ctx.Err() == nil {
		out.Failure = spoiled
	}
	return out
}

// limits are those of the watchdog, without one of the time without a token for
// whole answers, of which nothing is seen before their end.
func (j Job) limits() scenarios.Watchdog {
	limits := j.Limits
	if j.Options.NoStream {
		limits.Stall = 0
	}
	return limits
}

// EndWatch ends the observers of a pass that began.
func (j Job) EndWatch(p Pass, result *results.Result) error {
	var errs []error
	if p.Began {
		for _, o := range j.Watch {
			errs = append(errs, onDisk(o.End(result)))
		}
	}
	return errors.Join(errs...)
}

// FailureOf is why ctx ended if it did, else err.
func FailureOf(ctx context.Context, err error) *results.Failure {
	if ctx.Err() != nil {
		return results.CauseOf(ctx)
	}
	return results.AsFailure(err, results.FailInternal)
}

// drive runs the measured pass and stores each record as it comes.
func (j Job) drive(ctx context.Context) (out Pass, err error) {
	opts := j.Options
	opts.MaxFailures = j.maxFailures()
	opts.KeepText = j.KeepText || j.CountText != nil
	if opts.Early.Active() {
		out.early = early.New(opts.Early, opts.Arrivals)
		opts.Enough = out.early.Ended
	}

	opts.Started = func(zero time.Time) {
		out.Began = true
		for _, o := range j.Watch {
			o.Begin(ctx, zero)
		}
	}

	endProbes := j.startProbes(ctx, &opts)
	client, err := j.Driver.Run(ctx, opts, j.Prompts, func(rec results.Record) error {
		out.records = append(out.records, rec)
		j.Live.Record(&rec)
		if rec.Failure != nil && rec.Failure.Class != results.FailCanceled { // that was ended by us says nothing
			out.last = rec.Failure.Class
		}
		if j.Records == nil {
			return nil
		}
		return onDisk(j.Records.Write(rec))
	})

	out.client = &client
	var probeErr error
	if out.probes, probeErr = endProbes(); err == nil {
		err = probeErr
	}
	if j.CountText != nil {
		for i := range out.records {
			j.countText(context.WithoutCancel(ctx), &out.records[i])
		}
	}
	return out, errors.Join(err, onDisk(j.store(out)))
}

// store writes what became known after the pass: the lengths of texts, and the probes.
func (j Job) store(p Pass) error {
	switch {
	case j.Records == nil:
		return nil
	case j.CountText != nil:
		return j.Records.Replace(slices.Concat(p.records, p.probes))
	}
	for _, record := range p.probes {
		if err := j.Records.Write(record); err != nil {
			return err
		}
	}
	return nil
}

// afterPass are the options of requests that are sent after the pass and are no part of
// it.
func (j Job) afterPass(observe func(load.Progress), prefix string) load.Options {
	opts := j.Options
	opts.Arrivals, opts.Progress, opts.Duration, opts.Repeat = nil, observe, 0, false
	opts.Enough, opts.MaxFailures = nil, 0
	opts.RequestIDPrefix, opts.RequestID = prefix, nil
	return opts
}

// drain sends prompts and returns their records.
func (j Job) drain(ctx context.Context, opts load.Options, prompts []load.Prompt) (all []results.Record, err error) {
	_, err = j.Driver.Run(ctx, opts, prompts, func(rec results.Record) error {
		all = append(all, rec)
		return nil
	})
	return all, err
}

// resend sends the first requests of the pass again, one at a time, and after each
// one per new prompt of the same words.
func (j Job) resend(ctx context.Context, observe func(load.Progress)) (again, fresh []results.Record, err error) {
	n := min(j.Options.Resend, len(j.Prompts))
	if n == 0 {
		return nil, nil, nil
	}

	opts := j.afterPass(observe, "bench-again-")
	opts.MaxConcurrency = 1
	var prompts []load.Prompt
	for _, p := range j.Prompts[:n] {
		p.Turns = nil
		prompts = append(prompts, p, reversed(p))
	}

	all, err := j.drain(ctx, opts, prompts)
	for _, r := range all {
		isFresh := r.Index%2 == 1
		if r.Index /= 2; isFresh {
			fresh = append(fresh, r)
		} else {
			again = append(again, r)
		}
	}
	return again, fresh, err
}

// reversed is a prompt of the same words or token ids from the last to the first.
func reversed(p load.Prompt) load.Prompt {
	p.TokenIDs = slices.Clone(p.TokenIDs)
	slices.Reverse(p.TokenIDs)
	words := strings.Fields(p.Text)
	slices.Reverse(words)
	p.Text = strings.Join(words, " ")
	return p
}

// evaluate asks the questions with exact answers, as many at once as the pass has
// requests at most.
func (j Job) evaluate(ctx context.Context, observe func(load.Progress)) (*results.Evaluation, error) {
	if !j.Options.Evaluate.Exact {
		return nil, nil
	}

	opts := j.afterPass(observe, "bench-exact-")
	opts.Sampling = spec.Sampling{Temperature: new(0.0)}
	opts.IgnoreEOS, opts.KeepText, opts.CountTokens, opts.Compat, opts.Tools = false, true, nil, "", nil
	questions := exact.Questions()
	prompts := make([]load.Prompt, len(questions))
	for i, q := range questions {
		prompts[i] = load.Prompt{Text: q.Prompt(), OutputTokens: exact.AnswerTokens}
	}

	records, err := j.drain(ctx, opts, prompts)
	if err != nil {
		return nil, err
	}
	e := scoreOf(questions, records)
	e.MinScore = opts.Evaluate.MinScore
	return e, nil
}

// scoreOf marks the answers. A question without an answer is not answered rightly.
func scoreOf(questions []exact.Question, records []results.Record) *results.Evaluation {
	answers := make(map[int]results.Record)
	for _, r := range records {
		answers[r.Index] = r
	}

	e := &results.Evaluation{Set: "exact", Asked: len(questions), Wrong: []results.WrongAnswer{}}
	for i, q := range questions {
		at := slices.IndexFunc(e.Kinds, func(k results.KindScore) bool { return k.Kind == q.Kind })
		if at < 0 {
			at, e.Kinds = len(e.Kinds), append(e.Kinds, results.KindScore{Kind: q.Kind})
		}
		e.Kinds[at].Asked++

		r, known := answers[i]
		text := r.Text
		if r.Content != nil { // without reasoning
			text = *r.Content
		}
		switch {
		case !known || r.Failure != nil:
			e.Failed++
		case q.Right(text):
			e.Right++
			e.Kinds[at].Right++
		case len(e.Wrong) < results.MostWrong:
			e.Wrong = append(e.Wrong, results.WrongAnswer{Question: q.Ask, Want: q.Want, Got: beginning(text)})
		}
	}
	e.Score = float64(e.Right) / float64(e.Asked)
	return e
}

// beginning is the start of an answer's text, without the blanks around it.
func beginning(text string) string {
	const most = 80 // characters
	runes := []rune(strings.TrimSpace(text))
	if len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return string(runes)
}

// maxFailures is how many requests may fail before the step cannot succeed any
// more; 0: not known, or all may.
func (j Job) maxFailures() int {
	n := j.scheduled()
	needed := int(math.Ceil(j.MinSuccess * float64(n)))
	if needed == 0 || n == 0 {
		return 0
	}
	return max(n-needed, 1)
}

// onDisk makes an error of writing a failure.
func onDisk(err error) error {
	if err == nil {
		return nil
	}
	return results.WriteFailure(err)
}

// countText fills in the length of an answer's text; where it cannot be
// counted, the length stays unknown.
func (j Job) countText(ctx context.Context, rec *results.Record) {
	if n, err := j.CountText(ctx, rec.Text); err == nil {
		rec.TextTokens = &n
	}
	if rec.Content != nil {
		if n, err := j.CountText(ctx, *rec.Content); err == nil {
			rec.ContentTokens = &n
		}
	}
	if !j.KeepText {
		rec.Text, rec.Content = "", nil
		for g, reading := range rec.VLLMReading {
			reading.Text = ""
			rec.VLLMReading[g] = reading
		}
	}
}

// warmUp sends prompts that are not measured, and says how the last one failed
// that did. Where all fail they are sent once more: one that went wrong while the
// server was cold is no reason to give up a step. It fails if all fail again.
func (j Job) warmUp(ctx context.Context, observe func(load.Progress)) (class results.FailureClass, err error) {
	if len(j.Warmups) == 0 {
		return "", nil
	}

	const tries = 2
	var last *results.Failure
	for try := 1; try <= tries; try++ {
		succeeded := 0
		if succeeded, last, err = j.sendWarmups(ctx, observe); err != nil || succeeded > 0 || last == nil {
			break
		}
		if load.TooLong(last) { // the server is up, and shorter prompts may fit
			break
		}
		final := refusesLimitField(last) || load.Refuses(last, j.Options.Target.Model) || ctx.Err() != nil
		if final || try == tries {
			failure := results.Failf(results.FailRequests, "warm-up: %s failed, the last with %s: %s",
				allFailed(len(j.Warmups), try), last.Class, last.Message+refusedField(last))
			failure.HTTPStatus, err = last.HTTPStatus, failure
			break
		}
	}
	if last != nil {
		class = last.Class
	}
	return class, err
}

// allFailed is "the request", "all 4 requests", "all 4 requests, sent twice,".
func allFailed(n, tries int) string {
	words := "the request"
	if n > 1 {
		words = fmt.Sprintf("all %d requests", n)
	}
	if tries > 1 {
		words += ", sent twice,"
	}
	return words
}

// sendWarmups sends the warm-ups once; last is how the last one failed that did.
func (j Job) sendWarmups(
	ctx context.Context, observe func(load.Progress),
) (succeeded int, last *results.Failure, err error) {
	opts := j.Options
	opts.Arrivals, opts.Progress, opts.Duration, opts.Repeat = nil, observe, 0, false

	ended := 0
	j.Live.WarmUp(len(j.Warmups), 0)
	_, err = j.Driver.Run(ctx, opts, j.Warmups, func(rec results.Record) error {
		ended++
		j.Live.WarmUp(len(j.Warmups), ended)
		if rec.Failure == nil {
			succeeded++
		} else {
			last = rec.Failure
		}
		return nil
	})
	return succeeded, last, err
}

// refusesLimitField reports whether a warm-up failed because the server does not
// take both fields that limit a chat answer.
func refusesLimitField(err error) bool {
	f, ok := errors.AsType[*results.Failure](err)
	return ok && f.HTTPStatus >= 400 && f.HTTPStatus <= 499 &&
		(strings.Contains(f.Message, spec.MaxTokens) || strings.Contains(f.Message, spec.MaxCompletionTokens))
}

// refusedField says how to leave out a field of ours that the server does not take.
func refusedField(f *results.Failure) string {
	if f.HTTPStatus < 400 || f.HTTPStatus > 499 || !strings.Contains(f.Message, "ignore_eos") {
		return ""
	}
	return ": set load.ignore-eos: false; answers may then end before their limit"
}

// learnLimitField repeats the warm-up with one field at a time. The one that the
// server takes is kept for the measured pass.
func (j *Job) learnLimitField(
	ctx context.Context, onProgress func(load.Progress), result *results.Result,
) (class results.FailureClass, err error) {
	for _, field := range []string{spec.MaxCompletionTokens, spec.MaxTokens} {
		j.Options.MaxTokensField = field
		if class, err = j.warmUp(ctx, onProgress); !refusesLimitField(err) {
			break
		}
	}
	if body, bodyErr := load.ExampleBody(j.Options, j.Warmups[0]); bodyErr == nil {
		result.Asked.Body = body
	}

	return class, err
}

// judge is an Observer that has more to say once figures are known. Doubts that
// it adds count for the verdict.
type judge interface{ Judge(result *results.Result) }

// Judge asks the observers of a pass that began.
func (j Job) Judge(result *results.Result, p Pass) {
	for _, o := range j.Watch {
		if observer, ok := o.(judge); ok && p.Began {
			observer.Judge(result)
		}
	}
}
