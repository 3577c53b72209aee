package step

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios/parse"
)

func TestScheduleApply(t *testing.T) {
	at := func(seconds ...float64) *dataset.Set {
		set := &dataset.Set{}
		for _, s := range seconds {
			set.Prompts = append(set.Prompts, dataset.Prompt{At: &s})
		}
		return set
	}
	untimed := &dataset.Set{Prompts: make([]dataset.Prompt, 4)}
	constant := math.Inf(1)
	tests := []struct {
		name   string
		s      Schedule
		set    *dataset.Set
		want   []float64
		repeat bool
	}{
		{"all at once", Schedule{Rate: math.Inf(1), Burstiness: 1}, untimed, []float64{0, 0, 0, 0}, false},
		{"constant gaps", Schedule{Rate: 2, Burstiness: constant}, untimed, []float64{0.5, 1, 1.5, 2}, false},
		{
			"the older client starts at 0",
			Schedule{Rate: 2, Burstiness: constant, Compat: dataset.CompatVLLM06},
			untimed,
			[]float64{0, 0.5, 1, 1.5},
			false,
		},
		{"a trace", Schedule{Rate: math.Inf(1), Burstiness: 1}, at(3, 4, 8), []float64{0, 1, 5}, false},
		{
			"a trace, faster",
			Schedule{Rate: math.Inf(1), Burstiness: 1, ReplaySpeed: 10},
			at(3, 4, 8),
			[]float64{0, 0.1, 0.5},
			false,
		},
		{"a rate goes before a trace", Schedule{Rate: 1, Burstiness: constant}, at(3, 4), []float64{1, 2}, false},
		{
			"a time without a rate",
			Schedule{Rate: math.Inf(1), Burstiness: 1, Duration: time.Second},
			untimed, nil, true,
		},
		{
			"a time with a rate",
			Schedule{Rate: 4, Burstiness: constant, Duration: 900 * time.Millisecond},
			untimed,
			[]float64{0.25, 0.5, 0.75},
			true,
		},
		{"a ramp", Schedule{Rate: math.Inf(1), Burstiness: constant, Ramp: spec.Ramp{
			Strategy: spec.RampLinear,
			Start:    1, End: 4,
		}}, untimed, []float64{1, 1.5, 1.5 + 1.0/3, 1.75 + 1.0/3}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var o load.Options
			var asked results.Asked
			if err := tt.s.Apply(&o, &asked, tt.set); err != nil {
				t.Fatal(err)
			}
			if !cmp.Equal(o.Arrivals, tt.want, cmpopts.EquateApprox(0, 1e-9)) || o.Repeat != tt.repeat ||
				o.Duration != tt.s.Duration {
				t.Errorf("Apply = %v, repeat %t, duration %s, want %v, %t, %s", o.Arrivals, o.Repeat, o.Duration,
					tt.want, tt.repeat, tt.s.Duration)
			}
			if (asked.Ramp != nil) != (tt.s.Ramp.Strategy != "") || (asked.SendForS != nil) != (tt.s.Duration > 0) ||
				(asked.ReplaySpeed != nil) != strings.HasPrefix(tt.name, "a trace") {
				t.Errorf("Apply noted %+v", asked)
			}
		})
	}
}

func TestScheduleRefuses(t *testing.T) {
	set := &dataset.Set{Prompts: make([]dataset.Prompt, 2)}
	for name, s := range map[string]Schedule{
		"no request in the time": {Rate: 1, Burstiness: math.Inf(1), Duration: time.Millisecond},
		"a ramp of no kind": {Rate: math.Inf(1), Burstiness: 1, Ramp: spec.Ramp{
			Strategy: "steep",
			Start:    1, End: 2,
		}},
	} {
		if err := s.Apply(&load.Options{}, &results.Asked{}, set); err == nil {
			t.Errorf("%s: Apply gave no error", name)
		}
	}
}

// The scenario's lists of datasets and APIs are those of the packages that
// know them.
func TestScenarioKnowsAllDatasetsAndAPIs(t *testing.T) {
	complaint := func(key, value string) string {
		src := "schema: 1\nname: a\nserver: {launcher: simulator, model: m}\nload: {" + key + ": " + value + "}\n"
		_, err := parse.Source("a.yaml", []byte(src), parse.Options{})
		if err != nil && strings.Contains(err.Error(), "expected one of") {
			return err.Error()
		}
		return ""
	}
	for _, kind := range dataset.Kinds() {
		if text := complaint("dataset", "{kind: "+kind+"}"); text != "" {
			t.Errorf("dataset %s: %s", kind, text)
		}
	}
	for _, api := range dialect.APIs() {
		if text := complaint("endpoint", api.Name); text != "" {
			t.Errorf("endpoint %s: %s", api.Name, text)
		}
		lengths := ", input-len: 1, output-len: 1}\n"
		switch {
		case api.Name == "rerank" || api.Name == "score":
			lengths = ", dataset: {kind: random_rerank}, input-len: 8}\n"
		case api.Audio:
			lengths = ", dataset: {kind: random_audio, audio-len: 1s}}\n"
		case api.Numbers:
			lengths = ", input-len: 1}\n"
		}
		src := "schema: 1\nname: a\nserver: {launcher: simulator, model: m}\nload: {endpoint: " + api.Name + lengths
		sc, err := parse.Source("a.yaml", []byte(src), parse.Options{})
		if err != nil || sc.Points[0].Endpoint != api.DefaultPath || sc.Points[0].API != api.Name {
			t.Errorf("endpoint %s: %v, want path %s", api.Name, err, api.DefaultPath)
		}
	}
	if complaint("dataset", "{kind: no-such-kind}") == "" {
		t.Errorf("an unknown kind is taken")
	}
}

// textDriver answers each prompt with a text of as many words as its number.
type textDriver struct{ kept bool }

func (d *textDriver) Run(_ context.Context, o load.Options, prompts []load.Prompt,
	emit load.Emit,
) (results.ClientReport, error) {
	d.kept = o.KeepText
	for i := range prompts {
		sent := 0.0
		rec := results.Record{
			Index: i, SentS: &sent, EndS: 1, ChunkS: []float64{1}, ChunkKinds: "t",
			Text: strings.Repeat("word ", i+1),
		}
		if err := emit(rec); err != nil {
			return results.ClientReport{DurationS: 1}, err
		}
	}
	return results.ClientReport{DurationS: 1}, nil
}

// optionsDriver remembers what it was asked for and answers nothing.
type optionsDriver struct{ asked []load.Options }

func (d *optionsDriver) Run(_ context.Context, o load.Options, _ []load.Prompt, _ load.Emit) (results.ClientReport,
	error,
) {
	d.asked = append(d.asked, o)
	return results.ClientReport{DurationS: 1}, nil
}

// Warm-ups are sent once and at once, whatever the schedule of the pass.
func TestWarmUpHasNoSchedule(t *testing.T) {
	d := &optionsDriver{}
	job := Job{Driver: d, Prompts: make([]load.Prompt, 1), Warmups: make([]load.Prompt, 1)}
	job.Options.Duration, job.Options.Repeat, job.Options.Arrivals = time.Minute, true, []float64{5}
	Drive(t.Context(), job, &results.Result{})
	if len(d.asked) != 2 || d.asked[0].Repeat || d.asked[0].Duration != 0 || d.asked[0].Arrivals != nil ||
		!d.asked[1].Repeat {
		t.Errorf("asked for %+v", d.asked)
	}
}

// fussyDriver is a server that refuses the older name of the limit.
type fussyDriver struct{ fields []string }

func (d *fussyDriver) Run(_ context.Context, o load.Options, prompts []load.Prompt,
	emit load.Emit,
) (results.ClientReport, error) {
	d.fields = append(d.fields, o.MaxTokensField)
	for i := range prompts {
		r := results.Record{Index: i}
		if o.MaxTokensField != spec.MaxCompletionTokens {
			r.Failure = &results.Failure{
				Class: results.FailHTTP, HTTPStatus: 400,
				Message: "400 Bad Request: 'max_tokens' is not supported with this model",
			}
		}
		if err := emit(r); err != nil {
			return results.ClientReport{}, err
		}
	}
	return results.ClientReport{DurationS: 1}, nil
}

// TestLearnsLimitField: a server that refuses one of the two fields that limit
// an answer gets the other, from the warm-up on.
func TestLearnsLimitField(t *testing.T) {
	for asked, want := range map[string][]string{
		"":             {"", spec.MaxCompletionTokens, spec.MaxCompletionTokens},
		spec.MaxTokens: {spec.MaxTokens}, // as the user says
	} {
		d := &fussyDriver{}
		job := Job{Driver: d, Prompts: make([]load.Prompt, 1), Warmups: make([]load.Prompt, 1)}
		job.Options.MaxTokensField = asked
		Drive(t.Context(), job, &results.Result{})
		if !slices.Equal(d.fields, want) {
			t.Errorf("asked for %q: passes with %q, want %q", asked, d.fields, want)
		}
	}
}

// records is a RecordWriter that remembers.
type records struct {
	all    []results.Record
	closed bool
	err    error
}

func (r *records) Write(rec results.Record) error     { r.all = append(r.all, rec); return r.err }
func (r *records) Close() error                       { r.closed = true; return nil }
func (r *records) Replace(all []results.Record) error { r.all = slices.Clone(all); return r.err }

func TestDriveCountsTexts(t *testing.T) {
	for _, keep := range []bool{false, true} {
		d, stored := &textDriver{}, &records{}
		job := Job{
			Driver: d, Prompts: make([]load.Prompt, 3), Records: stored, KeepText: keep,
			CountText: func(_ context.Context, text string) (int, error) { return len(strings.Fields(text)), nil },
		}
		var result results.Result
		Drive(t.Context(), job, &result)
		if !d.kept || !stored.closed || len(stored.all) != 3 {
			t.Fatalf("texts kept %t, records closed %t, %d records", d.kept, stored.closed, len(stored.all))
		}
		for i, rec := range stored.all {
			if rec.TextTokens == nil || *rec.TextTokens != i+1 || (rec.Text != "") != keep {
				t.Errorf("record %d: text tokens %v, text %q, want %d and a text: %t", i, rec.TextTokens,
					rec.Text, i+1, keep)
			}
		}
	}
}

func TestDriveSaysThatTheDiskIsFull(t *testing.T) {
	for _, counting := range []bool{false, true} {
		job := Job{
			Driver: &textDriver{}, Prompts: make([]load.Prompt, 1),
			Records: &records{err: &os.PathError{Op: "write", Path: "requests", Err: syscall.ENOSPC}},
		}
		if counting {
			job.CountText = func(context.Context, string) (int, error) { return 1, nil }
		}
		var result results.Result
		Drive(t.Context(), job, &result)
		if result.Verdict != results.Failed || result.Failure.Class != results.FailDisk {
			t.Errorf("counting %t: verdict %s, failure %v, want failed with disk", counting, result.Verdict,
				result.Failure)
		}
	}
}

func TestTLSConfig(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(empty, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, pem, err := TLSConfig("", false); c != nil || pem != nil || err != nil {
		t.Errorf("TLSConfig() = %v, %v, want nothing", c, err)
	}
	if c, _, err := TLSConfig("", true); err != nil || !c.InsecureSkipVerify {
		t.Errorf("TLSConfig(insecure) = %v, %v", c, err)
	}
	for _, ca := range []string{empty, filepath.Join(t.TempDir(), "missing.pem")} {
		if _, _, err := TLSConfig(ca, false); err == nil || !strings.Contains(err.Error(), ca) {
			t.Errorf("TLSConfig(%s) = %v, want an error that names the file", ca, err)
		}
	}
}

// A server that refuses a field of ours is met by leaving it out: the failure
// says how.
func TestRefusedField(t *testing.T) {
	const refusal = "422 Unprocessable Entity: Unexpected fields in the request: {'ignore_eos'}"
	for _, c := range []struct {
		failure results.Failure
		hint    bool
	}{
		{results.Failure{HTTPStatus: 422, Message: refusal}, true},
		{results.Failure{HTTPStatus: 422, Message: "top_k: not a number"}, false},
		{results.Failure{HTTPStatus: 500, Message: refusal}, false},
		{results.Failure{Message: refusal}, false},
	} {
		if got := refusedField(&c.failure); strings.Contains(got, "load.ignore-eos: false") != c.hint {
			t.Errorf("refusedField(%d, %q) = %q, want a hint: %t", c.failure.HTTPStatus, c.failure.Message, got, c.hint)
		}
	}
}
