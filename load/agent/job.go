package agent

import (
	"errors"
	"time"

	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/spec"
)

// job is what an agent is to do: options as load has them, without what cannot
// travel.
type job struct {
	spec.Settings // max_concurrency is the share's

	Prompts int   `json:"prompts"`
	Share   share `json:"share"`

	Target   target        `json:"target"`
	Arrivals []float64     `json:"arrivals"`
	Repeat   bool          `json:"repeat"`
	IDPrefix string        `json:"request_id_prefix"`
	Progress time.Duration `json:"progress_period"` // 0: none is reported
	Counts   bool          `json:"counts"`          // the coordinator counts tokens
}

// target is load.Target; what its TLS settings say is Insecure and CA.
type target struct {
	BaseURLs   []string          `json:"base_urls"`
	Path       string            `json:"path"`
	API        string            `json:"api"`
	Model      string            `json:"model"`
	Headers    map[string]string `json:"headers"`
	Insecure   bool              `json:"insecure"`
	CA         []byte            `json:"ca"` // PEM; empty: the authorities of the agent's host
	UnixSocket string            `json:"unix_socket"`
}

// newJob is the job of a share.
func newJob(o *load.Options, s share, prompts []dialect.Prompt) (*job, []dialect.Prompt, error) {
	switch {
	case o.Target.TLS != nil && (o.Target.TLS.RootCAs != nil && len(o.Target.CA) == 0 ||
		len(o.Target.TLS.Certificates) > 0):
		return nil, nil, errors.New("of the TLS settings, load agents take only authorities as PEM and " +
			"the skipping of certificate verification")
	case o.RequestID != nil:
		return nil, nil, errors.New("single request ids cannot be sent to load agents: set a prefix")
	}
	mine, at := s.deal(*o, prompts)
	j := &job{
		Settings: o.Settings, Prompts: len(mine), Share: s, Arrivals: at,
		Repeat: o.Repeat, IDPrefix: o.RequestIDPrefix, Counts: o.CountTokens != nil,
		Target: target{
			BaseURLs: o.Target.BaseURLs, Path: o.Target.Path, API: o.Target.API, Model: o.Target.Model,
			Headers:    o.Target.Headers,
			UnixSocket: o.Target.UnixSocket,
			Insecure:   o.Target.TLS != nil && o.Target.TLS.InsecureSkipVerify, CA: o.Target.CA,
		},
	}
	j.MaxConcurrency = s.concurrency(o.MaxConcurrency)
	if o.Progress != nil {
		if j.Progress = o.ProgressPeriod; j.Progress <= 0 {
			j.Progress = time.Second
		}
	}

	return j, mine, nil
}

// options are the job's for load, without its callbacks.
func (j *job) options() load.Options {
	trusted, _ := load.Trust(j.Target.CA, j.Target.Insecure) // of a CA that is not PEM nobody is believed
	return load.Options{
		Settings: j.Settings, Arrivals: j.Arrivals, Repeat: j.Repeat, ProgressPeriod: j.Progress,
		Target: load.Target{
			BaseURLs: j.Target.BaseURLs, Path: j.Target.Path, API: j.Target.API, Model: j.Target.Model,
			Headers:    j.Target.Headers,
			UnixSocket: j.Target.UnixSocket,
			TLS:        trusted, CA: j.Target.CA,
		},
	}
}
