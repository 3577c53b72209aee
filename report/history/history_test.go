package history

import (
	"bytes"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/goldentest"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/history"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// nights are runs of three server starts, of a version and a rate.
func nights() []versus.Side {
	var sides []versus.Side
	for i, n := range []struct {
		version string
		rate    float64
		verdict results.Verdict
	}{
		{"0.9.1", 1000, results.OK},
		{"0.9.1", 1004, results.Suspect},
		{"0.10.0", 1100, results.OK},
		{"0.10.0\x1b[2J", 1101, results.OK},
	} {
		run := &results.Run{Manifest: results.Manifest{
			Scenario: "nightly", Run: fmt.Sprintf("night-%d", i+1), Variants: []string{"tp8"}, Points: []string{"c8"},
			StartedAt: time.Date(2026, 11, 1+i, 3, 0, 0, 0, time.UTC).Format(time.RFC3339),
		}}
		for repeat := 1; repeat <= 3; repeat++ {
			rate := n.rate + float64(repeat)
			run.Steps = append(run.Steps, results.Step{State: results.StepDone, Result: &results.Result{
				Verdict: n.verdict, Figures: &results.Figures{OutputThroughput: &rate},
				Step: results.StepRef{ID: fmt.Sprintf("s%d", repeat), Variant: "tp8", Point: "c8", Repeat: repeat},
				Servers: []results.Server{{
					Life: fmt.Sprintf("%d-%d", i, repeat), Launcher: "vllm",
					Version: n.version,
				}},
			}})
		}
		sides = append(sides, versus.Side{Name: run.Manifest.Run, Run: run})
	}
	return sides
}

func TestForms(t *testing.T) {
	t.Parallel()
	rule := compare.DefaultRule()
	all := history.Of(nights(), history.Wanted{
		Figures: []catalog.Figure{catalog.Must("output_throughput")}, Rule: rule,
	})
	formed := func(format string) []byte {
		out := &bytes.Buffer{}
		if err := Write(out, all, rule, format, table.Options{Width: 100}); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	golden(t, "history.txt", formed("table"))
	golden(t, "history.md", formed("markdown"))
	golden(t, "history.csv", formed("csv"))
	page := string(formed("html"))
	for _, want := range []string{"<svg", "9.54 %", "better", "engine version: 0.9.1 against 0.10.0", "night-4"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.ContainsRune(page, '\x1b') {
		t.Error("an escape sequence of a version is in the page")
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	goldentest.Compare(t, filepath.Join("testdata", name), string(got), *update)
}
