package detail

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// Recorded times are not "all at once".
func TestLoadOfARecording(t *testing.T) {
	for speed, want := range map[float64]string{
		1: "at the recorded times\n", 10: "at the recorded times, 10 times as fast",
	} {
		p := table.NewPrinter(table.Options{})
		printLoad(p, &results.Result{Asked: results.Asked{API: "chat", NumPrompts: 3, ReplaySpeed: &speed}})
		if got := p.String(); !strings.Contains(got, want) || strings.Contains(got, "all at once") {
			t.Errorf("speed %v: %q, want %q", speed, got, want)
		}
	}
}

// Where 99 is not among the percentiles, the tail is the highest that is.
func TestTailOfReadingsAndTurns(t *testing.T) {
	d := results.Dist{N: 9, Median: new(0.1), Percentiles: []results.PercentileFigure{{P: 50, Value: new(0.1)}, {
		P: 90, Value: new(0.25),
	}}}
	var names []string
	for _, b := range besidesOf(&results.Figures{E2EL: d}) {
		names = append(names, b.name)
	}
	if text := strings.Join(names, ","); !strings.Contains(text, "p90 TTFT (ms)") || strings.Contains(text, "p99") {
		t.Errorf("figures %s, want p90 in the place of p99", text)
	}
	if got := turnLine(results.TurnFigures{From: 2, To: 2, N: 9, TTFT: d}); !strings.Contains(got, "p90 250.00 ms") {
		t.Errorf("turn %q, want its p90", got)
	}
}

// A section of readings stands only where there are some: a short pass may have none.
func TestNoReadingsNoSection(t *testing.T) {
	for _, tt := range []struct {
		telemetry results.Telemetry
		want      bool
	}{
		{results.Telemetry{Notes: []string{}}, false},
		{results.Telemetry{Notes: []string{"no sampler"}}, true},
		{results.Telemetry{Host: &results.HostFigures{}}, true},
	} {
		p := table.NewPrinter(table.Options{})
		printGPUs(p, &tt.telemetry)
		if got := strings.Contains(p.String(), "GPUs and host"); got != tt.want {
			t.Errorf("%+v: a section %t, want %t", tt.telemetry, got, tt.want)
		}
	}
}

// A bound is set beside the percentile that it is of, whatever the order in the file.
func TestBoundsAreOfTheirPercentiles(t *testing.T) {
	bound := results.FigureBound{AtMostS: new(0.001)}
	f := &results.Figures{
		TTFT: results.Dist{N: 9, Percentiles: []results.PercentileFigure{
			{P: 50, Value: new(0.1)}, {P: 90, Value: new(0.2)}, {P: 99, Value: new(0.3)},
		}},
		ClientAtMost: &results.ClientBound{TTFT: results.DistBound{Percentiles: []results.PercentileBound{
			{P: 99, FigureBound: bound}, {P: 90, FigureBound: bound},
		}}},
	}
	got := ClientBounds(f)
	if len(got) != 1 || len(got[0].Figures) != 2 || got[0].Figures[0].Value != 0.3 || got[0].Figures[1].Value != 0.2 {
		t.Errorf("bounds %+v, want p99 of 0.3 s and p90 of 0.2 s", got)
	}
}

// The name of a life in a folder from anybody leads to no other file.
func TestLogOfStaysInTheFolder(t *testing.T) {
	r := &results.Result{Servers: []results.Server{{Life: "01-a"}}}
	if got := LogOf(&results.Run{Dir: t.TempDir()}, r); got != "lives/01-a/server-0.log" {
		t.Errorf("LogOf() = %q, want the log of life 01-a", got)
	}
	r.Servers[0].Life = "../../etc"
	if got := LogOf(&results.Run{Dir: t.TempDir()}, r); got != "" {
		t.Errorf("LogOf() = %q, want none", got)
	}
}
