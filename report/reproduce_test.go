package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/differences"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

func reproduced(t *testing.T, origin, here *results.Run, o versus.ReproduceOptions) *versus.Reproduction {
	t.Helper()
	r, err := versus.Reproduce(origin, here, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReproduceGolden(t *testing.T) {
	origin, here := week("monday", 1), week("again", 1)
	for i := range here.Steps {
		here.Steps[i].Result.Servers[0].Version = "0.12.0"
		if s := here.Steps[i].Result.Step; s.Variant == "tp4" && s.Point == "c4" {
			fail(here.Steps[i], results.Failed, results.Failf(results.FailOutOfMemory, "no room"))
		}
		if s := here.Steps[i].Result; s.Step.Variant == "tp8" && s.Step.Point == "c16" {
			s.Asked.DatasetSHA256 = "beef"
		}
	}
	r := reproduced(t, origin, here, versus.ReproduceOptions{})
	golden(t, "reproduce.txt", print(t, func(out *bytes.Buffer) error {
		return differences.WriteReproduction(out, r, table.ForTerminal, table.Options{})
	}))
	golden(t, "reproduce.md", print(t, func(out *bytes.Buffer) error {
		return differences.WriteReproduction(out, r, table.ForMarkdown, table.Options{})
	}))
	golden(t, "reproduce.json", print(t, func(out *bytes.Buffer) error { return differences.ReproductionJSON(out, r) }))
}

func TestReproduceTally(t *testing.T) {
	single := func(faster float64) *results.Run {
		run := runOf(step("a", 4, 1, faster))
		run.Manifest.Run = "x"
		return run
	}
	simulatedRun := week("again", 1)
	for i := range simulatedRun.Steps {
		simulatedRun.Steps[i].Result.Simulated = true
	}
	nothing := week("again", 1)
	for i := range nothing.Steps {
		fail(nothing.Steps[i], results.Failed, results.Failf(results.FailModel, "gone"))
	}
	tests := []struct {
		name         string
		origin, here *results.Run
		o            versus.ReproduceOptions
		want         string // beginning of the headline
	}{
		{"the same", week("monday", 1), week("again", 1), versus.ReproduceOptions{}, "AGREES: "},
		{"half as fast", week("monday", 1), week("again", 0.5), versus.ReproduceOptions{}, "DIFFERS: "},
		{
			"within what does not matter", week("monday", 1), week("again", 0.95),
			versus.ReproduceOptions{Margin: 0.2},
			"AGREES: ",
		},
		{"one life each", single(1), single(1.02), versus.ReproduceOptions{}, "CANNOT TELL: 0 agree"},
		{"one life each, spread stated", single(1), single(1), versus.ReproduceOptions{Spread: 0.002}, "AGREES: "},
		{
			"simulated against real", week("monday", 1), simulatedRun,
			versus.ReproduceOptions{},
			"CANNOT TELL: 0 agree, 0 differ, 0 undecided, 0 not comparable; 4 points not compared",
		},
		{
			"failed here", week("monday", 1), nothing,
			versus.ReproduceOptions{},
			"NOT REPRODUCED: 0 agree, 0 differ, 0 undecided, 0 not comparable; 4 points failed here",
		},
		{
			"failed there too", nothing, nothing,
			versus.ReproduceOptions{},
			"CANNOT TELL: 0 agree, 0 differ, 0 undecided, 0 not comparable; 4 points not compared",
		},
	}
	for _, test := range tests {
		if got := reproduced(t, test.origin, test.here, test.o).Headline(); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %q, want it to begin with %q", test.name, got, test.want)
		}
	}
}

func TestReproduceStepsOnly(t *testing.T) {
	r := reproduced(t, week("monday", 1), week("again", 1),
		versus.ReproduceOptions{Steps: []string{week("monday", 1).Steps[0].Result.Step.ID}})
	if len(r.Cells) != 1 || r.Cells[0].Here.Variant != "tp8" || r.Cells[0].Here.Point != "c4" {
		t.Errorf("%d cells, want tp8 at c4 alone", len(r.Cells))
	}
}

func TestMachineCheckGolden(t *testing.T) {
	b := &versus.MachineCheck{
		Origin: "night id", Problems: []string{"model \"/x\x1b[31m\" is not there"},
		Notes: []string{"paths start from ."},
	}
	b.Facts = append(b.Facts, versus.CompareFact("bench", "1.0", "1.1", false, "latencies"),
		versus.CompareFact("ROCm", "", "7", false, versus.AllFigures))
	b.Facts = append(b.Facts, versus.MachineFacts(environment("6.8", "6.12", 8), environment("6.8", "6.14", 4))...)
	b.Facts = append(b.Facts, versus.FileFacts(
		[]results.FileIdentity{
			{Path: "/there/m.gguf", Bytes: 5, Ends: "aa"},
			{Path: "/there/n.gguf", Bytes: 5, Ends: "aa"},
			{Path: "/there/o.gguf", Bytes: 5, Ends: "aa"},
		},
		[]results.FileIdentity{
			{Path: "/here/m.gguf", Bytes: 5, Ends: "aa"},
			{Path: "/here/n.gguf", Bytes: 6, Ends: "bb"},
		},
	)...)
	golden(t, "boxcheck.txt", print(t, func(out *bytes.Buffer) error {
		return differences.WriteMachineCheck(out, b, table.ForTerminal, table.Options{})
	}))
	golden(t, "boxcheck.md", print(t, func(out *bytes.Buffer) error {
		return differences.WriteMachineCheck(out, b, table.ForMarkdown, table.Options{})
	}))
	golden(t, "boxcheck.json", print(t, func(out *bytes.Buffer) error { return differences.MachineCheckJSON(out, b) }))
}
