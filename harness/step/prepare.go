package step

import (
	"context"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/harness/status"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
	"github.com/benchrig/bench/scenarios"
)

// Preparer makes the jobs of a run's steps. It keeps what several steps share:
// prompts, tokenizers, and which prompts the servers have got.
type Preparer struct {
	Driver Driver
	Client scenarios.Client // where the load client runs
	Limits scenarios.Watchdog
	RunID  string
	Folder *store.Folder // gets the prompts that are sent
	Frozen *plan.Frozen  // prompts to send in place of new ones; nil: none
	Live   *status.Live
	// Observe gets the progress of the pass, and what will go wrong in it.
	Observe func(status.Update)

	source promptSource
	sent   *sentTo
}

// Request asks for the job of one pass of a step.
type Request struct {
	Load    scenarios.Load
	Server  scenarios.Server // of the variant: its key, socket and certificates
	Servers []Server         // that are up
	Step    results.StepRef
	Pass    int    // 2: the second of a step with two
	Dir     string // gets the records
}

// NewServers says that the next jobs are for servers that were started since
// the last one.
func (p *Preparer) NewServers() { p.sent = newSentTo() }

// Job makes the prompts of a step and says how to send them; what that comes to
// is noted in the result. Without an error the job's record file is open; Drive
// closes it.
func (p *Preparer) Job(ctx context.Context, r Request, result *results.Result) (Job, error) {
	point, err := sized(r.Load, r.Servers[0], result)
	if err != nil {
		return Job{Servers: r.Servers}, err
	}
	job := newJob(p.Driver, r.Servers, point)
	job.Limits, job.Live = p.Limits, p.Live

	p.Live.Enter(results.LivePrompts, 0, "")
	measured, warm, counter, err := p.promptsOf(ctx, point, result.Asked.Seed, r.Servers[0])
	if err != nil {
		return job, err
	}
	job.SetPrompts(measured, LoadPrompts(warm), result)
	result.Warnings = append(result.Warnings, datasetNotes(point.Note)...)
	job.Warmups = fitWarmups(job.Warmups, roomOf(r.Servers).context)
	if r.Pass > 1 {
		job.Prompts = once(job.Prompts)
	} else if job.Probes, err = p.probesOf(ctx, point, result.Asked.Seed, counter); err != nil {
		return job, err
	}
	most := atOnce(scheduleOf(point), point.MaxConcurrency, measured)
	if err := p.lookAhead(r, job.Prompts, most, result); err != nil {
		return job, err
	}

	if job.Options, err = driveOptions(point, r.Server, r.Servers); err != nil {
		return job, err
	}
	job.Options.Target.BaseURLs = reachable(p.Client, job.Options.Target.BaseURLs)
	job.Options.Progress = func(progress load.Progress) {
		p.Observe(status.Update{Kind: status.StepProgress, Step: r.Step, Pass: r.Pass, Progress: progress})
	}
	if err := p.askCache(ctx, point, r, &job); err != nil {
		return job, err
	}
	if err := job.SetSending(scheduleOf(point), measured, counter, result); err != nil {
		return job, err
	}

	job.Records, err = store.NewRecordWriter(r.Dir, 0)
	if err != nil {
		return job, results.WriteFailure(err)
	}
	return job, nil
}

// lookAhead is preflight, whose warnings are shown before the step runs.
func (p *Preparer) lookAhead(r Request, prompts []load.Prompt, atOnce int, result *results.Result) error {
	before := len(result.Warnings)
	err := preflight(r.Servers, prompts, atOnce, result)
	for _, w := range result.Warnings[before:] {
		p.Observe(status.Update{Kind: status.StepWarning, Step: r.Step, Pass: r.Pass, Message: w.Message})
	}
	return err
}

// promptsOf makes the measured prompts and the warm-ups of a load, counted by
// its tokenizer or the server's.
func (p *Preparer) promptsOf(
	ctx context.Context, l scenarios.Load, seed uint64, server Server,
) (measured, warm *dataset.Set, counter TokenCounter, err error) {
	if p.source.sets == nil {
		p.source = newPromptSource(p.Folder, p.Frozen)
	}
	if counter, err = p.source.tokenizers.For(l.Dataset.Tokenizer, server); err != nil {
		return nil, nil, counter, err
	}
	measured, warm, err = p.source.prompts(ctx, l, seed, counter)
	return measured, warm, counter, err
}

// newJob is a job for a load, before it has prompts.
func newJob(driver Driver, servers []Server, l scenarios.Load) Job {
	return Job{
		Driver: driver, Servers: servers, Percentiles: l.Percentiles, Goodput: l.Goodput,
		MinSuccess: l.MinSuccess, KeepText: l.KeepText,
	}
}

// SetPrompts gives the job its prompts and those of its warm-up. What is to be
// known of them goes into the result.
func (j *Job) SetPrompts(measured *dataset.Set, warm []load.Prompt, result *results.Result) {
	j.Prompts, j.Warmups = LoadPrompts(measured), warm
	result.Asked.DatasetSHA256 = measured.SHA256
	result.Asked.GoodputGoalsS = spec.GoalsS(j.Goodput)
	result.Warnings = append(result.Warnings, datasetNotes(measured.Notes...)...)
}

// datasetNotes are notes as warnings; empty ones are dropped.
func datasetNotes(notes ...string) []results.Warning {
	var all []results.Warning
	for _, text := range notes {
		if text != "" {
			all = append(all, results.Warning{Code: results.WarnDataset, Message: text})
		}
	}
	return all
}

// SetSending completes the options of a job that has prompts: what counts their
// tokens, and when they leave. An example of a request body goes into the result.
func (j *Job) SetSending(s Schedule, set *dataset.Set, counter TokenCounter, result *results.Result) error {
	j.Options.CountTokens = counter.Count()
	if counter.Local {
		j.CountText = counter.Count()
	}
	result.Asked.Tokenizer = counter.Name

	var err error
	if result.Asked.Body, err = load.ExampleBody(j.Options, j.Prompts[0]); err != nil {
		return err
	}
	if err := s.Apply(&j.Options, &result.Asked, set); err != nil {
		return results.Failf(results.FailDataset, "%v", err)
	}
	return nil
}

// sized is a load point on a server, whose longest context may decide how long
// prompts are; the result notes the length.
func sized(point scenarios.Load, server Server, result *results.Result) (scenarios.Load, error) {
	longest := 0
	if startup := server.Info().Startup; startup != nil && startup.ContextLen != nil {
		longest = int(*startup.ContextLen)
	}
	l, err := point.For(longest)
	if err != nil {
		return l, results.Failf(results.FailDataset, "%v", err)
	}
	result.Asked.InputLen = plan.Positive(l.InputLen)
	return l, nil
}
