package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	tty "github.com/jedib0t/go-pretty/v6/text"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/report/detail"
	"github.com/benchrig/bench/report/export"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

func TestReportsGolden(t *testing.T) {
	for name, run := range runs() {
		t.Run(name, func(t *testing.T) {
			golden(t, name+".txt", print(t, func(out *bytes.Buffer) error { return Write(out, run, table.Options{}) }))
			golden(t, name+".md", print(t, func(out *bytes.Buffer) error { return Markdown(out, run) }))
			golden(t, name+".csv", print(t, func(out *bytes.Buffer) error { return export.CSV(out, run) }))
		})
	}
	matrix := runs()["matrix"]
	golden(t, "matrix-80.txt", print(t,
		func(out *bytes.Buffer) error { return Write(out, matrix, table.Options{Width: 80}) }))
	golden(t, "matrix-color.txt", print(t,
		func(out *bytes.Buffer) error { return Write(out, matrix, table.Options{Color: true}) }))
	golden(t, "failures-60.txt", print(t,
		func(out *bytes.Buffer) error { return Write(out, runs()["failures"], table.Options{Width: 60}) }))
}

func TestReportsAreTheSameEveryTime(t *testing.T) {
	for name := range runs() {
		first, err := filesOf(runs()[name])
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			again, err := filesOf(runs()[name])
			if err != nil {
				t.Fatal(err)
			}
			if !maps.EqualFunc(first, again, bytes.Equal) {
				t.Fatalf("%s: files differ (-first +again):\n%s", name, cmp.Diff(first, again))
			}
		}
	}
}

func TestWriteKeepsToTheWidth(t *testing.T) {
	for name, run := range runs() {
		for _, width := range []int{60, 80, 100, 132} {
			out := print(t, func(out *bytes.Buffer) error {
				return Write(out, run,
					table.Options{Width: width, Color: true})
			})
			for line := range strings.SplitSeq(string(out), "\n") {
				quoted := strings.Contains(line, " | ") || strings.Contains(line, "SIMULATED") ||
					strings.HasPrefix(line, "  ")
				if got := tty.StringWidthWithoutEscSequences(line); got > width && !quoted {
					t.Errorf("%s at width %d has a line of %d: %q", name, width, got, line)
				}
			}
		}
	}
}

func TestColorChangesNoText(t *testing.T) {
	for name, run := range runs() {
		plain := print(t, func(out *bytes.Buffer) error { return Write(out, run, table.Options{}) })
		color := print(t, func(out *bytes.Buffer) error { return Write(out, run, table.Options{Color: true}) })
		words := func(b []byte) []string {
			return strings.Fields(strings.NewReplacer("*", "", "bold:", "", "─",
				"").Replace(tty.StripEscape(string(b))))
		}
		if diff := cmp.Diff(words(plain), words(color)); diff != "" {
			t.Errorf("%s: words (-plain +color):\n%s", name, diff)
		}
	}
}

// No form of a report may show simulated figures without saying so.
func TestSimulatedIsSaidEverywhere(t *testing.T) {
	run := runs()["simulated"]
	files, err := filesOf(run)
	if err != nil {
		t.Fatal(err)
	}
	files["terminal"] = print(t, func(out *bytes.Buffer) error { return Write(out, run, table.Options{}) })
	files["step"] = print(t, func(out *bytes.Buffer) error { return detail.Step(out, run, "tp8-c1-r1") })
	for name, content := range files {
		if name == results.SummaryName {
			continue
		}
		if !strings.Contains(string(content), grid.SimulatedLine) {
			t.Errorf("%s does not say that its figures are simulated:\n%s", name, content)
		}
	}
	rows, err := csv.NewReader(bytes.NewReader(files[results.SummaryName])).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(rows[0], "simulated")
	for _, row := range rows[1:] {
		if row[at] != "true" {
			t.Errorf("summary.csv row %v has simulated = %q, want true", row[:5], row[at])
		}
	}
	for _, real := range []string{"ok", "matrix", "failures"} {
		if out := print(t, func(out *bytes.Buffer) error {
			return Write(out, runs()[real],
				table.Options{})
		}); bytes.Contains(out, []byte("SIMULATED")) {
			t.Errorf("the report of %s calls real figures simulated", real)
		}
	}
}

func TestOnlySoundRowsAreBest(t *testing.T) {
	for run, want := range map[string][]string{ // variants with a mark
		"ok":        {"tp8"},
		"failures":  {}, // one sound row a point has nothing to be better than
		"repeats":   {"tp8"},
		"killed":    {},
		"mixed":     {"real-b"}, // the simulated row's figures are as good
		"simulated": {"tp2x4 [sim]"},
	} {
		marked := map[string]bool{}
		for _, row := range grid.LayOutRun(runs()[run]).Rows {
			for _, e := range row.Cells {
				if e.Best {
					marked[row.Cells[0].Text] = true
				}
			}
		}
		got := slices.Sorted(maps.Keys(marked))
		if !slices.Equal(got, want) {
			t.Errorf("%s: best rows = %v, want %v", run, got, want)
		}
	}
}

func TestCSVHasEveryFigure(t *testing.T) {
	run := runs()["matrix"]
	rows, err := csv.NewReader(bytes.NewReader(print(t,
		func(out *bytes.Buffer) error { return export.CSV(out, run) }))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(run.Steps)+1 {
		t.Fatalf("summary.csv has %d rows, want a head and %d", len(rows), len(run.Steps))
	}
	for i, s := range run.Steps {
		for name, want := range map[string]*float64{
			"request_throughput_per_s":  s.Result.Figures.RequestThroughput,
			"p99_itl_s":                 metrics.At(s.Result.Figures.ITL, 99),
			"median_ttft_s":             s.Result.Figures.TTFT.Median,
			"mean_e2el_from_intended_s": s.Result.Figures.E2ELFromIntended.Mean,
		} {
			got, err := strconv.ParseFloat(rows[i+1][slices.Index(rows[0], name)], 64)
			if err != nil || got != *want {
				t.Errorf("row %d: %s = %v (%v), want %v", i+1, name, got, err, *want)
			}
		}
	}
}

// vllmFigures reads a result that vLLM's client saved.
func vllmFigures(t *testing.T) *results.Result {
	t.Helper()
	data, err := os.ReadFile("testdata/vllm-run.json")
	if err != nil {
		t.Fatal(err)
	}
	var saved map[string]any
	if err := json.Unmarshal(data, &saved); err != nil {
		t.Fatal(err)
	}
	number := func(name string) *float64 { return new(saved[name].(float64)) }
	integer := func(name string) *int64 { return new(int64(saved[name].(float64))) }
	latency := func(name string) results.Dist {
		seconds := func(p string) *float64 { return new(*number(p + "_" + name + "_ms") / 1000) }
		d := results.Dist{Mean: seconds("mean"), Median: seconds("median")}
		for _, p := range []float64{50, 90, 99} {
			d.Percentiles = append(d.Percentiles,
				results.PercentileFigure{P: p, Value: seconds(metrics.PercentileName(p))})
		}
		return d
	}
	return &results.Result{
		Asked: results.Asked{MaxConcurrency: new(int(*integer("max_concurrency")))},
		Figures: &results.Figures{
			Completed: int(*integer("completed")), Failed: int(*integer("failed")), DurationS: *number("duration"),
			TotalInputTokens: integer("total_input_tokens"), TotalOutputTokens: integer("total_output_tokens"),
			RequestThroughput: number("request_throughput"), OutputThroughput: number("output_throughput"),
			TotalTokenThroughput: number("total_token_throughput"),
			MaxOutputTokensPerS:  number("max_output_tokens_per_s"),
			PeakConcurrent:       int(*integer("max_concurrent_requests")),
			TTFT:                 latency("ttft"), TPOT: latency("tpot"), ITL: latency("itl"), E2EL: latency("e2el"),
		},
	}
}

// The block that vLLM printed for a run, made again from what it saved of it.
func TestBlockEqualsVLLM(t *testing.T) {
	want, err := os.ReadFile("testdata/vllm-block-newest.txt")
	if err != nil {
		t.Fatal(err)
	}
	got := print(t, func(out *bytes.Buffer) error { return detail.Block(out, vllmFigures(t)) })
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("block (-vLLM +ours):\n%s", diff)
	}
}

func TestBlockGolden(t *testing.T) {
	rated := step("tp8", 8, 1, 4).Result
	rated.Asked.MaxConcurrency, rated.Asked.RequestRate = nil, new(4.5)
	rated.Figures.RequestGoodput = new(3.25)
	rated.Figures.TTFT.Percentiles = append(rated.Figures.TTFT.Percentiles,
		results.PercentileFigure{P: 99.9, Value: new(1.0)})
	golden(t, "block-rated.txt", print(t, func(out *bytes.Buffer) error { return detail.Block(out, rated) }))
	unknown := &results.Result{
		Simulated: true,
		Figures:   &results.Figures{TTFT: results.Dist{Percentiles: []results.PercentileFigure{{P: 99}}}},
	}
	golden(t, "block-unknown.txt", print(t, func(out *bytes.Buffer) error { return detail.Block(out, unknown) }))
	if err := detail.Block(&bytes.Buffer{}, &results.Result{}); err == nil {
		t.Error("Block of a step without figures gave no error")
	}
}

func TestStepGolden(t *testing.T) {
	for run, id := range map[string]string{
		"failures": "tp8-c8-r1", "repeats": "tp2-pp4-c8-r2", "killed": "tp8-c8-r1",
		"ok": "tp8-c8-r1",
	} {
		r := runs()[run]
		if run == "ok" {
			r.Steps[0].Result.Replicas = []results.ReplicaFigures{
				{Replica: 0, Figures: *figures(1200, 4, 4)},
				{Replica: 1, Figures: results.Figures{Asked: 800}},
			}
		}
		golden(t, "step-"+run+".txt", print(t, func(out *bytes.Buffer) error { return detail.Step(out, r, id) }))
	}
	err := detail.Step(&bytes.Buffer{}, runs()["ok"], "nope")
	if err == nil || !strings.Contains(err.Error(), `"nope"`) || !strings.Contains(err.Error(), "tp8-c8-r1") {
		t.Errorf("Step of an unknown step error = %v, want it quoted and the steps named", err)
	}
}

func TestWriteFiles(t *testing.T) {
	run := runs()["failures"]
	folder, err := store.Create(t.TempDir(), "quickstart", "r")
	if err != nil {
		t.Fatal(err)
	}
	if err := folder.WriteManifest(run.Manifest); err != nil {
		t.Fatal(err)
	}
	run.Dir = folder.Dir()
	if err := WriteFiles(run); err != nil {
		t.Fatal(err)
	}
	files, err := filesOf(run)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"report.md", "steps/tp1_*odd*|name-c8-r1/block.txt", "steps/tp2-pp4-c1-r1/block.txt",
		"steps/tp2x4-c1-r1/block.txt", "steps/tp8-c1-r1/block.txt", "summary.csv",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(files))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for name, content := range files {
		got, err := os.ReadFile(folder.Dir() + "/" + name)
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s on disk differs from Files (%v)", name, err)
		}
	}
}

func TestCleanTakesAwayWhatATerminalWouldObey(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"plain", "plain"},
		{"\x1b[31mred\x1b[0m", "red"},
		{"bell\a tab\tend\r\nnext", "bell  tab end  next"},
		{"  \x00 ", ""},
		{"schön 日本", "schön 日本"},
	} {
		if got := text.Clean(tt.in); got != tt.want {
			t.Errorf("Clean(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b]0;title\ab\x1b[2J")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range text.Clean(s) {
			if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
				t.Fatalf("Clean(%q) keeps control character %U", s, r)
			}
		}
	})
}
