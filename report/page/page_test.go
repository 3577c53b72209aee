package page

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/internal/goldentest"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report"
	"github.com/benchrig/bench/results"
)

var update = flag.Bool("update", false, "rewrite golden files")

var (
	chartPattern = regexp.MustCompile(`(?s)<svg [^>]*id="([^"]*)".*?</svg>`)
	ownPattern   = regexp.MustCompile(`(?s)(<(style|script)>).*?(</(?:style|script)>)`)
	hashPattern  = regexp.MustCompile(`sha256-[^ ]*39;`)
)

// bare is a page without charts, style and script, which have tests of their
// own, and without the hashes of the latter.
func bare(page []byte) string {
	page = chartPattern.ReplaceAll(page, []byte("[chart $1]"))
	page = ownPattern.ReplaceAll(page, []byte("$1$3"))
	return hashPattern.ReplaceAllString(string(page), "sha256-x&#39;")
}

func TestPagesGolden(t *testing.T) {
	for name, run := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			got := bare(draw(t, run))
			goldentest.Compare(t, filepath.Join("testdata", name+".html"), got, *update)
		})
	}
}

func TestPagesAreTheSameEveryTime(t *testing.T) {
	for name, run := range fixtures(t) {
		first := draw(t, run)
		for range 3 {
			if again := draw(t, run); !bytes.Equal(first, again) {
				t.Fatalf("%s: pages differ (-first +again):\n%s", name, cmp.Diff(string(first), string(again)))
			}
		}
	}
}

// Every element is closed where it should be, and no id is there twice.
func TestPagesAreWellFormed(t *testing.T) {
	for name, run := range fixtures(t) {
		page := ownPattern.ReplaceAll(draw(t, run), []byte("$1$3"))
		// HTML lets attributes stand without a value and some elements without an
		// end; XML does not.
		page = regexp.MustCompile(`<(meta|input)( [^>]*)>`).ReplaceAll(page, []byte("<$1$2/>"))
		page = regexp.MustCompile(` (hidden|open|checked)([ />])`).ReplaceAll(page, []byte(` $1=""$2`))
		d := xml.NewDecoder(bytes.NewReader(page))
		d.Entity = xml.HTMLEntity
		ids := map[string]bool{}
		var links []string
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			start, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			for _, a := range start.Attr {
				switch {
				case a.Name.Local == "id" && ids[a.Value]:
					t.Errorf("%s: id %q is there twice", name, a.Value)
				case a.Name.Local == "id":
					ids[a.Value] = true
				case a.Name.Local == "href":
					links = append(links, a.Value)
				case a.Name.Local == "src" || a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on"):
					t.Errorf("%s: <%s %s=%q>", name, start.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
		for _, link := range links {
			if fragment, local := strings.CutPrefix(link, "#"); !local || !ids[fragment] {
				t.Errorf("%s: link to %q leads nowhere in the page", name, link)
			}
		}
	}
}

func TestNothingHostileGetsThrough(t *testing.T) {
	page := string(draw(t, hostile()))
	if n := strings.Count(page, "<script"); n != 1 {
		t.Errorf("the page has %d scripts, want its own only", n)
	}
	if strings.Contains(page, "<img") {
		t.Error("the page has an image that a name brought in")
	}
	for _, r := range page {
		if r < ' ' && r != '\n' || r == 0x7f || r == '\u202e' {
			at := strings.IndexRune(page, r)
			t.Fatalf("the page holds the control character %U: %.200q", r, page[max(0, at-100):])
		}
	}
	if !strings.Contains(page, "default-src 'none'") && !strings.Contains(page, "default-src &#39;none&#39;") {
		t.Error("the page has no policy that forbids what it does not need")
	}
}

func TestSimulatedIsSaid(t *testing.T) {
	page := string(draw(t, simulatedRun()))
	if !strings.Contains(page, `<p class="simulated"`) ||
		strings.Count(page, `<span class="sim">simulated</span>`) != 2 ||
		!strings.Contains(page, "(simulated)</title>") {
		t.Error("a page of simulated figures does not say so in its title, above everything and at each step")
	}
}

func TestStandingSentences(t *testing.T) {
	repeated := func(a, b []float64) *results.Run {
		var steps []*results.Result
		for i := range a {
			steps = append(steps, measured("a", i+1, a[i]), measured("b", i+1, b[i]))
		}
		return alone(steps...)
	}
	for _, c := range []struct {
		name string
		run  *results.Run
		want []string // beginnings of the lines
		told bool
	}{
		{
			"one wins", repeated([]float64{100, 101, 102}, []float64{120, 121, 122}),
			[]string{"b wins at c8: 19.80 % more output tok/s than a (95 % interval of the change +"},
			true,
		},
		{
			"too close", repeated([]float64{100, 101, 102}, []float64{100.1, 101, 102.1}),
			[]string{"No relevant difference at c8: b has 0.07 % more"},
			false,
		},
		{
			"too wide", repeated([]float64{100, 130, 90}, []float64{120, 100, 150}),
			[]string{"Cannot tell which is best at c8: b has 15.62 % more"},
			false,
		},
		{
			"not repeated", simulatedRun(),
			[]string{"Cannot tell which is best at c8: b [sim] has 20.00 % more " +
				"output tok/s than a [sim] (one server start each, so no interval); 2 more repeats of each would " +
				"decide it."},
			false,
		},
		{"by latency", rated(), []string{"fast wins at c8: 49.50 % less median E2EL ms than slow"}, true},
		{
			"one variant", alone(measured("a", 1, 100)),
			[]string{"The run has one variant, so nothing is compared: the best output tok/s is 100.0, of a " +
				"at c8, over 1 server start."},
			false,
		},
		{
			"points without a comparison",
			alone(
				at("c8", measured("a", 1, 100)), at("c8", measured("b", 1, 120)), at("c16", measured("a", 1, 100)),
				at("c16", suspect(measured("b", 1, 90))), at("c32", suspect(measured("a", 1, 100))),
			),
			[]string{
				"Cannot tell which is best at c8: b has 20.00 % more", "Only one variant has valid figures at c16.",
				"No valid figures at c32 (client-limit).",
			},
			false,
		},
		{
			"all suspect", alone(suspect(measured("a", 1, 100))),
			[]string{"Nothing to compare: no step of this run has valid figures (client-limit)."},
			false,
		},
		{"nothing", alone(), nil, false},
	} {
		s := report.StandingOf(c.run)
		ok := len(s.Lines) == len(c.want) && s.Decided == c.told
		for i := range min(len(s.Lines), len(c.want)) {
			ok = ok && strings.HasPrefix(s.Lines[i], c.want[i])
		}
		if !ok {
			t.Errorf("%s: standing = %q, told %t, want %q, told %t", c.name, s.Lines, s.Decided, c.want, c.told)
		}
	}
}

func TestWriteStepShowsOneStep(t *testing.T) {
	run := night(t)
	var out bytes.Buffer
	if err := WriteStep(&out, run, "variant-01_c1_r1"); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), `<details class="step"`); n != 1 {
		t.Errorf("the page of one step has %d", n)
	}
	if err := WriteStep(&out, run, "nobody"); err == nil || !strings.Contains(err.Error(), `"nobody"`) {
		t.Errorf("WriteStep of an unknown step: %v, want an error that names it", err)
	}
}

func TestLastLines(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"a\nb\nc\nd\n", []string{"c\n", "d\n"}},
		{"a\n" + long + "\nend", []string{long[:longestLine], "end"}},
		{long, []string{long[:longestLine]}},
	} {
		if got := lastLines(strings.NewReader(c.text), 2); !slices.Equal(got, c.want) {
			t.Errorf("lastLines(%.10q) = %.20q, want %.20q", c.text, got, c.want)
		}
	}
}

func at(point string, r *results.Result) *results.Result {
	r.Step.Point = point
	r.Step.ID = r.Step.Variant + "_" + point
	return r
}

func suspect(r *results.Result) *results.Result {
	r.Verdict = results.Suspect
	r.Warnings = []results.Warning{{Code: results.WarnClientLimit, Message: "late"}}
	return r
}

// The figure that decides is judged once: above, over all load points, and not
// again with the other figures of a pair.
func TestDifferencesAgreeWithTheVerdict(t *testing.T) {
	run := night(t)
	if lines := report.StandingOf(run).Lines; !strings.HasPrefix(lines[0], "variant-02 wins at c1") {
		t.Fatalf("standing %q", lines)
	}
	for _, p := range versus.DifferencesBy(run, 1) {
		for _, d := range p.Differences {
			// All answers have one length: the three throughputs are one figure.
			if p.Point == "c1" && strings.HasSuffix(d.Figure, "throughput") && d.Verdict != compare.Better {
				t.Errorf("%s at %s: %s, want better", d.Figure, p.Point, d.Verdict)
			}
		}
	}
}

// The arm of a null test is drawn, and neither best nor on the front.
func TestNullTestIsNeverBest(t *testing.T) {
	run := alone(measured("a", 1, 100), measured("b", 1, 120), measured("a+again", 1, 300))
	run.Manifest.NullTest = "a+again"
	o, err := overviewOf(run, readPasses(run, budgetFor(len(run.Steps))), linksOf(run))
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Front) != 1 || o.Front[0].Variant != "b" {
		t.Errorf("the front is %+v, want b alone", o.Front)
	}
	page := string(draw(t, run))
	if !strings.Contains(page, "a+again at c8") && !strings.Contains(page, "a&#43;again at c8") {
		t.Error("the arm is not drawn")
	}
	for row := range strings.SplitSeq(page, "<tr") {
		if strings.Contains(row, "again") && strings.Contains(row, `aria-label="best"`) {
			t.Errorf("the arm is called best: %s", row)
		}
	}
	if !strings.Contains(page, `aria-label="best"`) {
		t.Error("nothing is called best")
	}
}

// A target of one class is drawn in its unit, and no goal of the whole load beside it.
func TestTargetOfAPart(t *testing.T) {
	run := &results.Run{Steps: []results.Step{{Result: &results.Result{
		Asked: results.Asked{GoodputGoalsS: map[string]float64{"ttft": 2}},
	}}}}
	run.Manifest.Search = &results.SearchPolicy{
		Metric: results.SearchRate, Targets: []results.Condition{{Figure: "p90_ttft_ms@chat", Op: "<=", Value: 300}},
	}
	got := (&drawer{run: run}).targets(catalog.Must("p90_ttft_s@chat"))
	if len(got) != 1 || got[0].Value != 0.3 || got[0].Label != "target: p90_ttft_ms@chat <= 300" {
		t.Errorf("targets %+v, want one at 0.3 s", got)
	}
}

// Goals of the goodput, and targets of a search, are lines in the charts of
// what they limit; the goodput has a chart of its own.
func TestTargetsAreDrawn(t *testing.T) {
	run := night(t)
	for _, s := range run.Steps {
		if s.Result.Figures == nil {
			continue
		}
		s.Result.Asked.GoodputGoalsS = map[string]float64{"ttft": 0.05}
		s.Result.Figures.RequestGoodput = new(3.5)
	}
	run.Manifest.Search = &results.SearchPolicy{
		Metric: results.SearchRate, From: 1, To: 64,
		Targets: []results.Condition{{Figure: "p99_e2el_ms", Op: "<=", Value: 900}, {
			Figure: "median_tpot_s", Op: "<",
			Value: 0.02,
		}},
	}

	page := string(draw(t, run))
	_, answers, _ := strings.Cut(page, `<section id="charts"`)
	answers, _, _ = strings.Cut(answers, "</section>")
	if !strings.Contains(answers, "target: p99_e2el_ms &lt;= 900") {
		t.Error("the first target of the search is not among the charts that answer")
	}
	for _, want := range []string{
		"goodput goal: ttft &lt;= 50 ms", "target: median_tpot_s &lt; 0.02",
		`id="sweep-request_goodput"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
