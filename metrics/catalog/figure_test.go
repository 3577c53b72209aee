package catalog

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
)

// everyGroup are all groups, for what must hold of every figure.
func everyGroup() []Group {
	return []Group{Pass, Latency, Hardware, Heat, Energy, Cost, Shares}
}

// A name belongs to one figure, which is found by it, is read from somewhere,
// and says all that the places where it stands need.
func TestFiguresAreWhole(t *testing.T) {
	names, aliases := map[string]bool{}, map[string]string{}
	for _, f := range All(everyGroup()...) {
		if names[f.Name] {
			t.Errorf("%s is there twice", f.Name)
		}
		names[f.Name] = true

		if found, err := Find(f.Name); err != nil || found.Name != f.Name || found.Group != f.Group {
			t.Errorf("Find(%q) = %q of group %d, %v", f.Name, found.Name, found.Group, err)
		}
		if f.Of == nil || f.Scale == 0 {
			t.Errorf("%s: nothing reads it, or its scale is missing", f.Name)
			continue
		}
		if v := f.Of(&results.Result{}); v != nil {
			t.Errorf("%s of a step without anything is %g, want null", f.Name, *v)
		}
		if (f.Compared || f.Drawn) && f.Title == "" {
			t.Errorf("%s is compared or drawn, and has no title", f.Name)
		}
		for _, alias := range f.Aliases {
			if other := aliases[alias]; other != "" {
				t.Errorf("%q is an alias of %s and of %s", alias, other, f.Name)
			}
			aliases[alias] = f.Name
		}
	}
}

// Every kind of name that a condition may use is found, in the unit of its name.
func TestConditionNames(t *testing.T) {
	for _, name := range ConditionNames() {
		if f, err := Named(name); err != nil || f.Name != name {
			t.Errorf("Named(%q) = %q, %v", name, f.Name, err)
		}
	}
	for _, name := range []string{"asked", "n_ttft_s", "p101_ttft_ms", "cost_total", "speed", "p99_ttft"} {
		if f, err := Named(name); err == nil {
			t.Errorf("Named(%q) = %+v, want an error", name, f)
		}
	}

	r := &results.Result{Figures: &results.Figures{TTFT: results.Dist{N: 3, Median: new(0.25)}}}
	for name, want := range map[string]float64{"median_ttft_s": 0.25, "median_ttft_ms": 250} {
		f, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if v := f.Of(r); v == nil || *v != want {
			t.Errorf("%s = %v, want %g", name, v, want)
		}
	}
}

// A figure of a part is that of the part's requests; only what follows from requests
// is known of one.
func TestPartFigures(t *testing.T) {
	figures := func(median float64, asked, completed int) results.Figures {
		return results.Figures{
			Asked: asked, Completed: completed, Failed: asked - completed, DurationS: 1,
			RequestThroughput: new(float64(completed)),
			TTFT:              results.Dist{N: completed, Median: &median},
		}
	}
	whole := figures(0.5, 20, 20)
	r := &results.Result{Figures: &whole, Parts: []results.PartFigures{
		{By: results.ByClass, Name: "chat", Figures: figures(0.25, 8, 6)},
		{By: results.ByStage, Name: "peak", Figures: figures(2, 4, 4)},
	}}

	for name, want := range map[string]float64{
		"median_ttft_s": 0.5, "median_ttft_s@chat": 0.25, "median_ttft_ms@chat": 250, "median_ttft_s@peak": 2,
		"request_throughput@chat": 6, "success_share@chat": 0.75, "success_share": 1,
	} {
		f, err := Named(name)
		if err != nil {
			t.Errorf("Named(%q): %v", name, err)
			continue
		}
		if v := f.Of(r); v == nil || *v != want || f.Name != name {
			t.Errorf("%s is %s, %v, want %g", name, f.Name, v, want)
		}
	}
	if f, err := Named("median_ttft_s@other"); err != nil || f.Of(r) != nil {
		t.Errorf("a part that is not there: %v, %v", f.Of(r), err)
	}
	for _, name := range []string{"j_per_output_token@chat", "median_ttft_s@", "speed@chat", "n_ttft_s@chat"} {
		if _, err := Named(name); err == nil {
			t.Errorf("Named(%q): no error", name)
		}
	}
	if p, ok := PercentileOf("p99_ttft_s@chat"); !ok || p != 99 {
		t.Errorf("percentile of p99_ttft_s@chat: %g, %t", p, ok)
	}
}

// What importers call a figure sets the figure of that name.
func TestImported(t *testing.T) {
	for alias, want := range map[string]string{
		"qps": "request_throughput", "output token throughput": "output_throughput", "successful requests": "completed",
	} {
		if f, ok := Imported(alias); !ok || f.Name != want {
			t.Errorf("Imported(%q) = %q, %v, want %q", alias, f.Name, ok, want)
		}
	}
	if f, ok := Imported("asked"); ok { // a setting, for which files say how many prompts there were
		t.Errorf("Imported(asked) = %q, want nothing", f.Name)
	}

	f := &results.Figures{}
	at := Must("request_goodput").At(f)
	*at = new(2.0)
	if f.RequestGoodput == nil || *f.RequestGoodput != 2 {
		t.Errorf("the goodput is %v after it was set", f.RequestGoodput)
	}
}

// Statistics of samples in summary.csv are named alike.
func TestSampleFigures(t *testing.T) {
	var names []string
	for _, f := range Samples()[0].InFile([]float64{50, 99.9}) {
		names = append(names, f.Name)
		if f.Whole != strings.HasPrefix(f.Name, "n_") {
			t.Errorf("%s: whole %v", f.Name, f.Whole)
		}
	}
	want := "n_ttft_s mean_ttft_s median_ttft_s std_ttft_s min_ttft_s max_ttft_s p50_ttft_s p99.9_ttft_s"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
