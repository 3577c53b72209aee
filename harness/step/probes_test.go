package step

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
)

// probed answers the main pass with one record once three probes were sent.
type probed struct {
	probes chan struct{} // gets one for each probe
	asked  load.Options  // of the probes
}

func (d *probed) Run(ctx context.Context, o load.Options, _ []load.Prompt, emit load.Emit) (results.ClientReport,
	error,
) {
	if o.RequestIDPrefix != probePrefix {
		o.Started(time.Now())
		for range 3 {
			<-d.probes
		}
		return results.ClientReport{DurationS: 1}, emit(results.Record{SentS: new(0.0), EndS: 1})
	}

	d.asked = o
	if _, err := o.Start(ctx); err != nil {
		return results.ClientReport{}, nil //nolint:nilerr // as the client: the report says it
	}
	for i := 0; ; i++ {
		select {
		case <-o.Stop:
			return results.ClientReport{}, nil
		case d.probes <- struct{}{}:
			if err := emit(results.Record{Index: i}); err != nil {
				return results.ClientReport{}, err
			}
		}
	}
}

// TestProbes: probes are sent while the pass runs, and their records are kept apart.
func TestProbes(t *testing.T) {
	asked := spec.Probes{RequestRate: 5, OutputLen: 1, Priority: new(3)}
	probes, err := NewProbes(asked, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := &probed{probes: make(chan struct{})}
	settings := spec.Settings{
		Probes: asked, Body: map[string]any{"priority": 0, "x": 1}, MaxConcurrency: 2, Duration: time.Minute,
		Stages: []spec.Stage{{Name: "1"}}, Classes: []spec.Class{{Name: "a"}},
	}
	job := Job{Driver: d, Probes: probes, Options: load.Options{Settings: settings}}
	stored := &records{}
	job.Records = stored

	pass, err := job.drive(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	marked := 0
	for _, r := range stored.all {
		if r.Probe {
			marked++
		}
	}
	if marked != len(pass.probes) || marked != len(stored.all)-1 {
		t.Errorf("stored %d records, %d of them as probes, want 1 and %d probes", len(stored.all), marked,
			len(pass.probes))
	}
	if len(pass.records) != 1 || len(pass.probes) < 3 {
		t.Errorf("%d records of the pass and %d of probes, want 1 and at least 3", len(pass.records), len(pass.probes))
	}
	o := d.asked
	if o.Stages != nil || o.Classes != nil || o.Duration != 0 || o.MaxConcurrency != mostAtOnce || !o.Repeat {
		t.Errorf("probes are sent with settings of the load: %+v", o.Settings)
	}
	if diff := cmp.Diff(map[string]any{"priority": 3, "x": 1}, o.Body); diff != "" {
		t.Errorf("body of probes (-want +got):\n%s", diff)
	}
	if n := len(probes.arrivals); n < 1000 || probes.arrivals[n-1] < 24*3600 {
		t.Errorf("%d arrivals until %v s, want some for a day", n, probes.arrivals[n-1])
	}
}

func TestNoProbes(t *testing.T) {
	probes, err := NewProbes(spec.Probes{}, 1, nil)
	if err != nil || len(probes.arrivals) > 0 {
		t.Errorf("probes that were not asked for: %d, %v", len(probes.arrivals), err)
	}
}
