package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/differences"
	"github.com/benchrig/bench/report/export"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// environment is environment.json of a machine.
func environment(kernel, driver string, gpus int) json.RawMessage {
	list := strings.TrimSuffix(strings.Repeat(
		`{"index": 0, "name": "AMD Instinct MI300X", "partition": "SPX", "memory_mode": "NPS1"},`, gpus), ",")
	return json.RawMessage(`{"gpu": {"gpus": [` + list + `], "drivers": {"amd": "` + driver +
		`"}}, "host": {"hostname": "box", "kernel": "` + kernel + `", "threads": 96}}`)
}

// week is a run of two variants at two points, all servers faster by a factor.
func week(run string, faster float64) *results.Run {
	var steps []results.Step
	for repeat := 1; repeat <= 4; repeat++ {
		for i, variant := range []string{"tp8", "tp4"} {
			for _, c := range []int{4, 16} {
				s := step(variant, c, repeat, faster*(4-float64(i))*(1+float64(repeat)/400))
				s.Result.Run, s.Result.Asked.DatasetSHA256 = run, "5eed"
				s.Result.Client = &results.ClientReport{Transport: "sockets"}
				steps = append(steps, s)
			}
		}
	}
	out := runOf(steps...)
	out.Manifest.Run, out.Environment = run, environment("6.8", "6.12", 8)
	return out
}

func compared(t *testing.T, a, b *results.Run) *versus.Comparison {
	t.Helper()
	c, err := versus.Compare([]versus.Side{
		{Name: "monday", Path: "x/monday", Run: a},
		{Name: "tuesday", Path: "x/tuesday", Run: b},
	}, versus.CompareOptions{Rounds: 50})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func terminal(t *testing.T, c *versus.Comparison) string {
	t.Helper()
	return string(print(t, func(out *bytes.Buffer) error {
		return differences.WriteComparison(out, c, table.ForTerminal, nil, table.Options{})
	}))
}

func TestCompareGolden(t *testing.T) {
	a, b := week("monday", 1), week("tuesday", 0.95)
	for i := range b.Steps {
		b.Steps[i].Result.Servers[0].Version = "0.12.0"
	}
	b.Environment = environment("6.9", "6.12", 8)
	fail(b.Steps[2], results.Failed, results.Failf(results.FailExited, "the server ended"))
	c := compared(t, a, b)
	conditions := []versus.Condition{}
	for _, text := range []string{"output_throughput<-3%", "p99_ttft_ms > 10%"} {
		condition, err := versus.ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		conditions = append(conditions, condition)
	}
	findings, err := c.Check(conditions)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "compare.txt", print(t, func(out *bytes.Buffer) error {
		return differences.WriteComparison(out, c, table.ForTerminal, findings, table.Options{})
	}))
	golden(t, "compare.md", print(t, func(out *bytes.Buffer) error {
		return differences.WriteComparison(out, c, table.ForMarkdown, findings, table.Options{})
	}))
	golden(t, "compare.json", print(t,
		func(out *bytes.Buffer) error { return differences.ComparisonJSON(out, c, findings) }))
	golden(t, "compare.benchstat.txt",
		print(t, func(out *bytes.Buffer) error { return export.Benchstat(out, c.Sides) }))
	if len(findings) != 4 {
		t.Errorf("%d findings, want one of the throughput for each variant and point: %v", len(findings), findings)
	}
	for _, f := range findings {
		if f.Uncertain || f.Condition != "output_throughput<-3%" {
			t.Errorf("finding %+v, want the loss of 5 %% of throughput, and nothing of TTFT", f)
		}
	}
}

func TestConfigDelta(t *testing.T) {
	each := func(change func(*results.Result)) func(*results.Run) {
		return func(run *results.Run) {
			for i := range run.Steps {
				change(run.Steps[i].Result)
			}
		}
	}
	tests := []struct {
		name   string
		change func(*results.Run)
		want   []string
		things int
	}{
		{"nothing", func(*results.Run) {}, []string{"No known difference"}, 0},
		{"port, path, life", each(func(r *results.Result) {
			s := &r.Servers[0]
			s.BaseURL, s.Life, s.Argv = "http://127.0.0.1:9000", "life-"+s.Life, append(s.Argv, "--port", "9000")
		}), []string{"No known difference"}, 0}, // bench chooses the port
		{
			"argument", each(func(r *results.Result) {
				r.Servers[0].Argv = append(r.Servers[0].Argv, "--enforce-eager")
			}),
			[]string{"argument --enforce-eager", "unset", "tp8, tp4"},
			1,
		},
		{
			"environment", each(func(r *results.Result) { r.Servers[0].Env = map[string]string{"X": "1"} }),
			[]string{"environment X"},
			1,
		},
		{
			"engine", each(func(r *results.Result) { r.Servers[0].Version = "0.12.0" }),
			[]string{"engine version", "0.11.0", "0.12.0"},
			1,
		},
		{"model", each(func(r *results.Result) { r.Servers[0].Model = "n" }), []string{"model"}, 1},
		{
			"transport", each(func(r *results.Result) { r.Client = &results.ClientReport{Transport: "net/http"} }),
			[]string{"client transport", "net/http"},
			1,
		},
		{"bench", func(run *results.Run) { run.Manifest.Bench = "v2" }, []string{"bench version", "v2"}, 1},
		{
			"kernel and driver", func(run *results.Run) { run.Environment = environment("6.9", "6.13", 8) },
			[]string{"kernel", "driver amd", "WARNING: 2 differences"},
			2,
		},
		{
			"GPUs", func(run *results.Run) { run.Environment = environment("6.8", "6.12", 4) },
			[]string{"8 x AMD Instinct MI300X (SPX, NPS1)", "4 x AMD"},
			1,
		},
		{"no environment", func(run *results.Run) { run.Environment = nil }, []string{
			"machine", "not known",
			"Known on one side only",
		}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := week("tuesday", 1)
			tt.change(b)
			c := compared(t, week("monday", 1), b)
			text := terminal(t, c)
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("the comparison lacks %q:\n%s", want, text)
				}
			}
			if c.Others[0].Things != tt.things {
				t.Errorf("%d things differ, want %d: %v", c.Others[0].Things, tt.things, c.Others[0].Delta)
			}
			if err := c.Strict(); (err != nil) != (tt.things > 1) {
				t.Errorf("Strict = %v with %d things", err, tt.things)
			}
		})
	}
}

func TestNotComparable(t *testing.T) {
	tests := []struct {
		name   string
		change func(*results.Result)
		want   string
	}{
		{"simulated", func(r *results.Result) { r.Simulated = true }, "one side is simulated"},
		{
			"prompts", func(r *results.Result) { r.Asked.DatasetSHA256 = "0ther" },
			"the prompts differ (SHA-256 5eed and 0ther)",
		},
		{"load", func(r *results.Result) { r.Asked.OutputLen = new(64) }, "load output-len: 32 against 64"},
		{"rate", func(r *results.Result) { r.Asked.RequestRate = new(2.5) }, "load request-rate: none against 2.5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := week("tuesday", 1)
			for i := range b.Steps {
				tt.change(b.Steps[i].Result)
			}
			c := compared(t, week("monday", 1), b)
			text := terminal(t, c)
			const places = 5 // four pairs, and the verdict of the run
			if strings.Count(text, "not comparable: "+tt.want) != places ||
				strings.Contains(text, "interval  verdict") {
				t.Errorf("want every pair not comparable: %s; got:\n%s", tt.want, text)
			}
			condition, err := versus.ParseCondition("output_throughput<-3%")
			if err != nil {
				t.Fatal(err)
			}
			findings, err := c.Check([]versus.Condition{condition})
			if err != nil || len(findings) != 4 || !findings[0].Uncertain {
				t.Errorf("findings = %v, %v; want four that cannot tell", findings, err)
			}
		})
	}
}

func TestMatching(t *testing.T) {
	rename := func(run *results.Run, from, to string) {
		for i := range run.Steps {
			if r := run.Steps[i].Result; r.Step.Variant == from {
				r.Step.Variant = to
			}
		}
	}
	b := week("tuesday", 1)
	for i := range b.Steps {
		if r := b.Steps[i].Result; r.Step.Variant == "tp4" {
			r.Servers[0].Argv = []string{"vllm", "serve", "m", "--tensor-parallel-size", "4"}
		}
	}
	a := week("monday", 1)
	for i := range a.Steps {
		if r := a.Steps[i].Result; r.Step.Variant == "tp4" {
			r.Servers[0].Argv = []string{"vllm", "serve", "m", "--tensor-parallel-size", "4"}
		}
	}
	rename(b, "tp8", "eight")
	rename(b, "tp4", "four")
	text := terminal(t, compared(t, a, b))
	for _, want := range []string{
		"four is matched with the baseline's tp4: same configuration",
		"eight is matched with the baseline's tp8: same configuration", "No known difference",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("matching lacks %q:\n%s", want, text)
		}
	}
	b.Steps = b.Steps[:3] // eight at c4 and c16, four at c4
	if text := terminal(t, compared(t, a, b)); !strings.Contains(text,
		"tp4 at c16 of the baseline has no counterpart") {
		t.Errorf("what has no counterpart is passed over:\n%s", text)
	}
}

// What broke, or is not there, does not stay within a limit.
func TestConditionsOfFailedCandidates(t *testing.T) {
	b := week("tuesday", 1)
	for i := range b.Steps {
		if b.Steps[i].Result.Step.Variant == "tp4" {
			fail(b.Steps[i], results.Failed, results.Failf(results.FailOutOfMemory, "HIP out of memory"))
		}
	}
	condition, err := versus.ParseCondition("output_throughput<-3%")
	if err != nil {
		t.Fatal(err)
	}
	findings, err := compared(t, week("monday", 1), b).Check([]versus.Condition{condition})
	if err != nil {
		t.Fatal(err)
	}
	if len(findings) != 2 || findings[0].Uncertain || !strings.Contains(findings[0].Why, "HIP out of memory") {
		t.Errorf("findings = %+v, want the failed variant at both points", findings)
	}
	condition.Figure = "speed"
	if _, err := compared(t, week("monday", 1), b).Check([]versus.Condition{condition}); err == nil ||
		!strings.Contains(err.Error(), `"speed"`) {
		t.Errorf("a condition on an unknown figure gives %v", err)
	}
}

func TestParseCondition(t *testing.T) {
	for text, want := range map[string]versus.Condition{
		"output_throughput<-3%":   {Figure: "output_throughput", Below: true, Limit: -0.03},
		" p99_ttft_ms > +10.5 % ": {Figure: "p99_ttft_s", Limit: 0.105},
		"pp512<-1%":               {Figure: "pp512", Below: true, Limit: -0.01},
	} {
		want.Text = strings.TrimSpace(text)
		if got, err := versus.ParseCondition(text); err != nil || got != want {
			t.Errorf("ParseCondition(%q) = %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "output_throughput", "output_throughput<3", "<3%", "x=3%", "x<three%", "x<1e5%"} {
		if got, err := versus.ParseCondition(text); err == nil || !strings.Contains(err.Error(), "FIGURE<-N%") {
			t.Errorf("ParseCondition(%q) = %+v, %v, want an error with the form", text, got, err)
		}
	}
}

func FuzzParseCondition(f *testing.F) {
	f.Add("output_throughput<-3%")
	f.Add("a b > 0.0001 %")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := versus.ParseCondition(text)
		if err != nil {
			return
		}
		again, err := versus.ParseCondition(c.Text)
		if err != nil || again != c || c.Figure == "" {
			t.Errorf("ParseCondition(%q) = %+v, and of its own text %+v, %v", text, c, again, err)
		}
	})
}

func TestCompareRefuses(t *testing.T) {
	run := week("monday", 1)
	one := []versus.Side{{Name: "monday", Run: run}}
	if _, err := versus.Compare(one, versus.CompareOptions{}); err == nil ||
		!strings.Contains(err.Error(), "two runs") {
		t.Errorf("one side gives %v", err)
	}
	two := append(one, versus.Side{Name: "tuesday", Run: run})
	if _, err := versus.Compare(two, versus.CompareOptions{Baseline: "sunday"}); err == nil ||
		!strings.Contains(err.Error(), `"sunday"`) {
		t.Errorf("an unknown baseline gives %v", err)
	}
	if _, err := versus.Compare(two, versus.CompareOptions{Figures: []string{"speed"}}); err == nil ||
		!strings.Contains(err.Error(), "output_throughput") {
		t.Errorf("an unknown figure gives %v", err)
	}
	for _, m := range []struct {
		match versus.Match
		want  string
	}{
		{versus.Match{Base: "tp9", With: "tp8"}, `match "tp9=tp8": the baseline has no variant tp9, want one of tp8, tp4`},
		{versus.Match{Base: "tp8", With: "tp9"}, `match "tp8=tp9": no other run has a variant tp9, want one of tp8, tp4`},
	} {
		_, err := versus.Compare(two, versus.CompareOptions{Match: []versus.Match{m.match}})
		if err == nil || !strings.Contains(err.Error(), m.want) {
			t.Errorf("match %v gives %v, want %s", m.match, err, m.want)
		}
	}
	c, err := versus.Compare(two, versus.CompareOptions{
		Baseline: "tuesday", Figures: []string{"p99_e2el_ms"},
		Rounds: 10, Margin: 0.02,
	})
	if err != nil || c.Baseline != 1 || c.Rule.Margin != 0.02 || len(c.Others[0].Pairs[0].Differences) != 1 {
		t.Errorf("Compare = %+v, %v; want the second side as baseline and one figure", c, err)
	}
}

// Runs that were imported from equal files show no difference.
func TestSameFilesAreSaid(t *testing.T) {
	imported := func(day, sum string) *results.Run {
		run := week(day, 1)
		run.Manifest.Imported = &results.Imported{Files: []results.ImportedFile{{Name: day, SHA256: sum}}}
		return run
	}
	const said = "both sides were imported from the same files"
	for sum, want := range map[string]bool{"1": true, "2": false} {
		text := terminal(t, compared(t, imported("monday", "1"), imported("tuesday", sum)))
		if strings.Contains(text, said) != want {
			t.Errorf("files 1 and %s: is it said that they are the same: %v, want %v", sum, !want, want)
		}
	}
}

// Steps of a run folder, given as files or folders, know that run's machine.
func TestReadSides(t *testing.T) {
	r := week("monday", 1).Steps[0].Result
	dir := nightFolder(t, "monday", []*results.Result{r})
	if err := os.WriteFile(filepath.Join(dir, results.EnvironmentName), environment("6.8", "6.12", 8),
		0o644); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "steps", r.Step.ID, results.ResultName)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	alone := filepath.Join(t.TempDir(), "colleague.json")
	if err := os.WriteFile(alone, data, 0o644); err != nil {
		t.Fatal(err)
	}
	sides, err := versus.ReadSides([]string{dir, filepath.Dir(file), file, alone}, store.ReadAny)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range sides {
		if got := s.Run.Environment != nil; got != (i < 3) {
			t.Errorf("side %d (%s) knows its box: %v", i, s.Name, got)
		}
		if len(s.Run.Steps) != 1 || s.Run.Steps[0].Result.Step != r.Step {
			t.Errorf("side %d has steps %v", i, s.Run.Steps)
		}
	}
	if sides[0].Name != "monday" || sides[3].Name != "colleague.json" || sides[2].Name != text.Clean(file) {
		t.Errorf("names = %q", versus.SideNames(sides))
	}
	for name, content := range map[string]string{
		"newer.json": `{"format_version": 99}`, "other.json": `{"a": 1}`,
		"text.json": "no",
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := versus.ReadSides([]string{path}, store.ReadAny); err == nil ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("%s gives %v, want an error that names it", name, err)
		}
	}
	if _, err := versus.ReadSides([]string{"nowhere"}, store.ReadAny); err == nil {
		t.Error("a folder that is not there gives no error")
	}
}

func TestBenchstatNames(t *testing.T) {
	for in, want := range map[string]string{"quick start": "Quick_start", "a/b": "A_b", "": "None", "ünder": "Ünder"} {
		if got := export.Capital(export.Word(in)); got != want {
			t.Errorf("capital(word(%q)) = %q, want %q", in, got, want)
		}
	}
}

func TestCompareBeginsWithAVerdict(t *testing.T) {
	short := week("tuesday", 1)
	short.Steps = short.Steps[:4] // one repeat
	doubtful := week("tuesday", 1.2)
	for _, s := range doubtful.Steps {
		s.Result.Verdict = results.Suspect
	}
	longer := week("tuesday", 1)
	for _, s := range longer.Steps {
		s.Result.Asked.NumPrompts = 1234
	}
	for _, tt := range []struct {
		name, want string
		with       *results.Run
	}{
		{
			"faster", "tuesday against monday: output tok/s is better in 4 of 4 comparisons (most: ",
			week("tuesday", 1.2),
		},
		{"slower", "output tok/s is worse in 4 of 4 comparisons (most: ", week("tuesday", 0.8)},
		{"slower", "Also worse: req/s, ", week("tuesday", 0.8)},
		{"the same", "output tok/s is no different in 4 of 4 comparisons.", week("tuesday", 1)},
		{"too few", "output tok/s is undecided in 4 of 4 comparisons.", short},
		{"suspect", "4 comparisons used suspect repeats.", doubtful},
		{"nothing in common", "no variant and load point match.", runOf()},
		{"another load", "tuesday against monday: not comparable: load num-prompts: ", longer},
	} {
		text := terminal(t, compared(t, week("monday", 1), tt.with))
		if head, _, _ := strings.Cut(text, "\nrun "); !strings.Contains(head, tt.want) {
			t.Errorf("%s: %q lacks %q", tt.name, head, tt.want)
		}
	}
}
