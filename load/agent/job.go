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
	Prompts int   `json:"prompts"`
	Share   share `json:"share"`

	Target      target        `json:"target"`
	Arrivals    []float64     `json:"arrivals"`
	Concurrency int           `json:"max_concurrency"`
	IgnoreEOS   bool          `json:"ignore_eos"`
	Temperature *float64      `json:"temperature"`
	Sampling    spec.Sampling `json:"sampling"`
	Bodies      string        `json:"bodies"`
	NoStream    bool          `json:"no_stream"`
	ThinkTime   time.Duration `json:"think_time"`
	Timeouts    spec.Timeouts `json:"timeouts"`
	Duration    time.Duration `json:"duration"`
	DrainLimit  time.Duration `json:"drain_limit"`
	Repeat      bool          `json:"repeat"`
	Reuse       bool          `json:"reuse_connections"`
	Transport   string        `json:"transport"`
	KeepText    bool          `json:"keep_text"`
	IDPrefix    string        `json:"request_id_prefix"`
	Progress    time.Duration `json:"progress_period"` // 0: none is told
	Counts      bool          `json:"counts"`          // the coordinator counts tokens
}

// target is load.Target; what its TLS settings say is Insecure and CA.
type target struct {
	BaseURLs       []string          `json:"base_urls"`
	Path           string            `json:"path"`
	API            string            `json:"api"`
	Model          string            `json:"model"`
	Headers        map[string]string `json:"headers"`
	Body           map[string]any    `json:"body"`
	Insecure       bool              `json:"insecure"`
	CA             []byte            `json:"ca"` // PEM; empty: the authorities of the agent's host
	UnixSocket     string            `json:"unix_socket"`
	MaxTokensField string            `json:"max_tokens_field"`
}

// newJob is the job of a share.
func newJob(o *load.Options, s share, prompts []dialect.Prompt) (*job, []dialect.Prompt, error) {
	switch {
	case o.Target.TLS != nil && (o.Target.TLS.RootCAs != nil && len(o.Target.CA) == 0 || len(o.Target.TLS.Certificates) > 0):
		return nil, nil, errors.New("of TLS settings, only authorities as PEM and the wish to take any certificate reach load agents")
	case o.RequestID != nil:
		return nil, nil, errors.New("request ids of one's own do not reach load agents: set a prefix")
	}
	mine, at := s.deal(*o, prompts)
	j := &job{
		Prompts: len(mine), Share: s, Arrivals: at, Concurrency: s.concurrency(o.MaxConcurrency),
		IgnoreEOS: o.IgnoreEOS, Temperature: o.Temperature, Sampling: o.Sampling, Bodies: o.Bodies, NoStream: o.NoStream,
		ThinkTime: o.ThinkTime, Timeouts: o.Timeouts, Duration: o.Duration, DrainLimit: o.DrainLimit, Repeat: o.Repeat,
		Reuse: o.ReuseConnections, Transport: o.Transport, KeepText: o.KeepText, IDPrefix: o.RequestIDPrefix, Counts: o.CountTokens != nil,
		Target: target{
			BaseURLs: o.Target.BaseURLs, Path: o.Target.Path, API: o.Target.API, Model: o.Target.Model, Headers: o.Target.Headers,
			Body: o.Target.Body, UnixSocket: o.Target.UnixSocket, MaxTokensField: o.Target.MaxTokensField,
			Insecure: o.Target.TLS != nil && o.Target.TLS.InsecureSkipVerify, CA: o.Target.CA,
		},
	}
	if o.Progress != nil {
		if j.Progress = o.ProgressPeriod; j.Progress <= 0 {
			j.Progress = time.Second
		}
	}
	return j, mine, nil
}

// options are the job's for load, without its callbacks.
func (j *job) options() load.Options {
	trusted, _ := load.Trust(j.Target.CA, j.Target.Insecure) // of a CA that is no PEM nobody is believed
	return load.Options{
		Arrivals: j.Arrivals, MaxConcurrency: j.Concurrency, IgnoreEOS: j.IgnoreEOS, Temperature: j.Temperature, Sampling: j.Sampling,
		Bodies: j.Bodies, NoStream: j.NoStream, ThinkTime: j.ThinkTime, Timeouts: j.Timeouts, Duration: j.Duration, DrainLimit: j.DrainLimit,
		Repeat: j.Repeat, ReuseConnections: j.Reuse, Transport: j.Transport, KeepText: j.KeepText, ProgressPeriod: j.Progress,
		Target: load.Target{
			BaseURLs: j.Target.BaseURLs, Path: j.Target.Path, API: j.Target.API, Model: j.Target.Model, Headers: j.Target.Headers,
			Body: j.Target.Body, UnixSocket: j.Target.UnixSocket, MaxTokensField: j.Target.MaxTokensField,
			TLS: trusted, CA: j.Target.CA,
		},
	}
}
