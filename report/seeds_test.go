package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/detail"
	"github.com/benchrig/bench/report/differences"
	"github.com/benchrig/bench/report/export"
	"github.com/benchrig/bench/report/grid"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// printedLatency makes a sample of three printed figures in milliseconds.
func printedLatency(mean, median, p99 float64, n int) results.Dist {
	const ms = 1000
	return results.Dist{
		N: n, Mean: new(mean / ms), Median: new(median / ms),
		Percentiles: []results.PercentileFigure{{P: 99, Value: new(p99 / ms)}},
	}
}

// switchRun are the seven rows that the document of the environment-switch A/B
// prints: three repeats without the variable, four with it.
func switchRun() *results.Run {
	rows := map[string][][10]float64{
		"baseline": {
			{1.49, 2403.47, 743.52, 17902.17, 40.31, 41.10, 41.79, 41.00, 29.04, 191.56},
			{1.49, 2570.94, 742.21, 17642.33, 40.16, 41.02, 41.92, 40.48, 29.06, 189.20},
			{1.49, 2866.32, 744.35, 17957.88, 39.83, 40.90, 41.76, 40.10, 28.98, 190.63},
		},
		"swizzle": {
			{1.56, 3227.89, 754.47, 11802.83, 37.20, 40.89, 41.93, 40.62, 28.70, 192.76},
			{1.50, 2625.89, 744.05, 17578.28, 39.79, 40.96, 41.64, 40.13, 28.73, 191.51},
			{1.50, 2545.97, 748.51, 18200.78, 39.84, 40.59, 41.32, 40.21, 28.67, 191.50},
			{1.50, 2865.06, 746.89, 18510.94, 39.59, 40.52, 41.24, 40.08, 28.69, 191.78},
		},
	}
	const requests, answer = 640, 1000
	var steps []results.Step
	for repeat := 1; repeat <= 4; repeat++ { // interleaved
		for _, variant := range []string{"baseline", "swizzle"} {
			if repeat > len(rows[variant]) {
				continue
			}
			v := rows[variant][repeat-1]
			s := step(variant, 64, repeat, 1)
			s.Result.Servers[0].Env = map[string]string{"VLLM_USE_V1": "1"}
			if variant == "swizzle" {
				s.Result.Servers[0].Env["VLLM_SWIZZLE_TENSOR"] = "1"
			}
			s.Result.Figures = &results.Figures{
				Asked: requests, Completed: requests, DurationS: requests / v[0], RequestThroughput: new(v[0]),
				TTFT: printedLatency(v[1], v[2], v[3], requests), TPOT: printedLatency(v[4], v[5], v[6], requests),
				ITL: printedLatency(v[7], v[8], v[9], requests*(answer-1)),
			}
			steps = append(steps, s)
		}
	}
	run := runOf(steps...)
	run.Manifest.Variants, run.Manifest.Tables = []string{"baseline", "swizzle"}, []string{"repeats"}
	return run
}

func TestEnvironmentSwitchGolden(t *testing.T) {
	run := switchRun()
	names := []string{"repeats", "differences"}
	golden(t, "switch.txt", print(t, func(out *bytes.Buffer) error {
		return Tables(out, run, names, table.ForTerminal,
			table.Options{})
	}))
	golden(t, "switch.md", print(t, func(out *bytes.Buffer) error {
		return Tables(out, run, names, table.ForMarkdown,
			table.Options{})
	}))
	golden(t, "switch.csv", print(t, func(out *bytes.Buffer) error { return export.DifferencesCSV(out, run) }))
	whole := string(print(t, func(out *bytes.Buffer) error { return Markdown(out, run) }))
	for _, want := range []string{
		"| qps | mean TTFT (ms) | Median TTFT (ms) | p99 TTFT (ms) | mean TPOT (ms) | Median TPOT (ms) | P99 TPOT " +
			"(ms) | mean ITL (ms) | Median ITL (ms) | p99 ITL (ms) |",
		`| 1.49 | 2403.47 | 743.52 | \~17902.17 | 40.31 | 41.10 | \~41.79 | 41.00 | 29.04 | 191.56 |`,
		`| 1.56 | 3227.89 | 754.47 | \~11802.83 | 37.20 | 40.89 | \~41.93 | 40.62 | 28.70 | 192.76 |`,
		`environment VLLM\_SWIZZLE\_TENSOR: unset against 1`,
		"| mean TPOT ms | 40.10 ± 0.25 | 39.11 ± 1.27 | 3/4 | -2.48 % |",
		"| median ITL ms | 29.03 ± 0.04 | 28.70 ± 0.03 | 3/4 | -1.13 % |",
		"outlier (counted): swizzle, repeat 1: ",
	} {
		if !strings.Contains(whole, want) {
			t.Errorf("the report lacks %q:\n%s", want, whole)
		}
	}
	for figure, want := range map[string]string{
		"req/s": "cannot tell", "mean TTFT": "cannot tell",
		"p99 TTFT": "cannot tell", "mean TPOT": "cannot tell", "median ITL": "better",
	} {
		if !slices.ContainsFunc(strings.Split(whole, "\n"), func(line string) bool {
			return strings.HasPrefix(line, "| "+figure) && strings.Contains(line, "3/4") &&
				strings.Contains(line, "| "+want)
		}) {
			t.Errorf("%s is not called %q", figure, want)
		}
	}
}

// blockStep makes a step of printed figures.
func blockStep(launcher, model string, concurrency int, duration float64, completed int, input, output int64, ttft,
	tpot float64,
) results.Step {
	const asked = 64
	s := step(strings.ToLower(launcher)+"-"+model, concurrency, 1, 1)
	s.Result.Servers[0].Launcher, s.Result.Servers[0].Model = launcher, model
	s.Result.Figures = &results.Figures{
		Asked: asked, Completed: completed, Failed: asked - completed, DurationS: duration, TotalInputTokens: &input,
		TotalOutputTokens: &output,
		RequestThroughput: new(float64(completed) / duration), OutputThroughput: new(float64(output) / duration),
		TotalTokenThroughput: new(float64(input+output) / duration),
		TTFT:                 printedLatency(ttft, ttft, ttft, completed),
		TPOT:                 printedLatency(tpot, tpot, tpot, completed),
	}
	if completed < asked {
		s.Result.Verdict = results.Failed
		s.Result.Failure = results.Failf(results.FailRequests, "%d of 64 requests succeeded (at least 95 %% must)",
			completed)
	}
	return s
}

const (
	fp16 = "meta-llama/Llama-2-7b-chat-hf (FP16)"
	gptq = "TheBloke/Llama-2-7B-Chat-GPTQ"
	w8a8 = "RedHatAI/Llama-2-7b-chat-quantized.w8a8"
)

// The bold values of the document's tables that follow their own rule.
func TestStudyTablesAreBoldAsTheDocument(t *testing.T) {
	concurrency := runOf(
		blockStep("vllm", fp16, 1, 1295.40, 64, 17809, 11150, 121.23, 115.88),
		blockStep("vllm", fp16, 8, 225.80, 64, 17809, 11157, 536.74, 135.23),
		blockStep("vllm", fp16, 16, 155.97, 64, 17809, 11256, 871.62, 162.64),
	)
	sizes := runOf(
		blockStep("vllm", fp16, 16, 155.97, 64, 17809, 11256, 871.62, 162.64),
		blockStep("vllm", w8a8, 16, 407.27, 64, 17809, 11671, 2213.22, 361.97),
		blockStep("vllm", gptq, 16, 85.72, 64, 17809, 12765, 787.02, 90.31),
	)
	sizes.Manifest.Sizes = map[string]string{"vllm-" + fp16: "13.5GB", "vllm-" + w8a8: "6.6GB"}
	sizes.Steps[2].Result.Servers[0].Startup = &results.Startup{ModelBytes: new(int64(3_700_000_000))}
	for _, tt := range []struct {
		table string
		run   *results.Run
		want  []string
	}{
		{"concurrency", concurrency, []string{
			"| Model | Concurrency | Duration (s) | Req/s | Output Tok/s | Total Tok/s | Mean TTFT (ms) | Mean TPOT " +
				"(ms) |",
			"| c=1 | 1295.40 | 0.05 | 8.61 | 22.36 | **121.23** | **115.88** |",
			"| c=8 | 225.80 | 0.28 | 49.41 | 128.28 | 536.74 | 135.23 |",
			"| c=16 | **155.97** | **0.41** | **72.17** | **186.35** | 871.62 | 162.64 |",
		}},
		{"sizes", sizes, []string{
			"| Model | Size | Concurrency | Duration (s) |",
			"| " + fp16 + " | 13.5GB | c=16 | 155.97 | 0.41 | 72.17 | 186.35 | 871.62 | 162.64 |",
			"| " + w8a8 + " | 6.6GB | c=16 | 407.27 | 0.16 | 28.66 | 72.38 | 2213.22 | 361.97 |",
			"| " + gptq + " | 3.7GB | c=16 | **85.72** | **0.75** | **148.92** | **356.67** | **787.02** | **90.31** |",
		}},
	} {
		got := string(print(t, func(out *bytes.Buffer) error {
			return Tables(out, tt.run, []string{tt.table}, table.ForMarkdown, table.Options{})
		}))
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("table %s lacks %q:\n%s", tt.table, want, got)
			}
		}
	}
}

// backends are the document's rows of one concurrency. Its authors had 36 of 64
// requests of llama.cpp answered; sound: as if it had been asked for 36.
func backends(valid bool) *results.Run {
	lc := func(model string, concurrency int, duration float64, output int64, ttft, tpot float64) results.Step {
		s := blockStep("llamacpp", model, concurrency, duration, 36, 1339, output, ttft, tpot)
		if valid {
			s.Result.Verdict, s.Result.Failure = results.OK, nil
		}
		return s
	}
	return runOf(
		blockStep("vllm", fp16, 1, 1295.40, 64, 17809, 11150, 121.23, 115.88),
		lc("Llama-2-7b-chat-hf.f16.gguf", 1, 412.23, 5256, 200.52, 76.32),
		lc("llama-2-7b.Q8_0.gguf", 1, 237.27, 5870, 146.13, 39.16),
		lc("llama-2-7b.Q4_K_M.gguf", 1, 237.19, 5870, 145.18, 39.09),
		blockStep("vllm", gptq, 16, 85.72, 64, 17809, 12765, 787.02, 90.31),
		lc("llama-2-7b.Q4_K_M.gguf", 16, 32.85, 5870, 381.53, 64.94),
	)
}

func TestBackendsTable(t *testing.T) {
	draw := func(run *results.Run) string {
		return string(print(t, func(out *bytes.Buffer) error {
			return Tables(out, run, []string{"backends"}, table.ForMarkdown, table.Options{})
		}))
	}
	ranked := draw(backends(true))
	for _, want := range []string{ // printed ties are both best
		"| Backend | Model/Quant | Completed | Duration (s) | Req/s | Output Tok/s | Total Tok/s | Mean TTFT (ms) | " +
			"Mean TPOT (ms) |",
		"| vLLM | " + fp16 + " | 64 of 64 | 1295.40 | 0.05 | 8.61 | 22.36 | **121.23** | 115.88 |",
		`| llama.cpp | llama-2-7b.Q8\_0.gguf | 36 of 64 | 237.27 | **0.15** | 24.74 | 30.38 | 146.13 | 39.16 |`,
		`| llama.cpp | llama-2-7b.Q4\_K\_M.gguf | 36 of 64 | **237.19** | **0.15** | **24.75** | **30.39** | 145.18 | **39.09** |`,
		"| vLLM | " + gptq + " | 64 of 64 | 85.72 | 0.75 | 148.92 | **356.67** | 787.02 | 90.31 |",
		`| llama.cpp | llama-2-7b.Q4\_K\_M.gguf | 36 of 64 | **32.85** | **1.10** | **178.69** | 219.45 | **381.53** | **64.94** |`,
	} {
		if !strings.Contains(ranked, want) {
			t.Errorf("ranked backends lack %q:\n%s", want, ranked)
		}
	}
	asTheyWere := draw(backends(false))
	if strings.Contains(asTheyWere, "**") {
		t.Errorf("a row that answered 36 of 64 requests is ranked, or ranks another:\n%s", asTheyWere)
	}
	if want := "not ranked: failed: requests-failed: 36 of 64 requests succeeded"; !strings.Contains(asTheyWere, want) {
		t.Errorf("backends lack %q:\n%s", want, asTheyWere)
	}
	golden(t, "backends.txt", print(t, func(out *bytes.Buffer) error {
		return Tables(out, backends(false), []string{"backends"}, table.ForTerminal, table.Options{})
	}))
}

func TestTablesOfOtherDurationsAreNotRankedByThem(t *testing.T) {
	run := runOf(step("a", 1, 1, 4), step("a", 16, 1, 4))
	run.Steps[1].Result.Figures.Asked, run.Steps[1].Result.Figures.Completed = 4000, 4000
	got := string(print(t, func(out *bytes.Buffer) error {
		return Tables(out, run, []string{"concurrency"}, table.ForMarkdown, table.Options{})
	}))
	for line := range strings.SplitSeq(got, "\n") {
		if fields := strings.Split(line, "|"); len(fields) > 3 && strings.Contains(fields[3], "**") {
			t.Errorf("the duration of other work is called best: %s", line)
		}
	}
}

func TestUnknownTable(t *testing.T) {
	err := Tables(&bytes.Buffer{}, runOf(), []string{"nope"}, table.ForTerminal, table.Options{})
	if err == nil || !strings.Contains(err.Error(), `"nope"`) || !strings.Contains(err.Error(), "speculation") {
		t.Errorf("error = %v, want the name quoted and the tables named", err)
	}
	for _, name := range TableNames() {
		if err := Tables(&bytes.Buffer{}, runOf(), []string{name}, table.ForTerminal, table.Options{}); err != nil {
			t.Errorf("table %s of an empty run: %v", name, err)
		}
		if !strings.Contains(TableHelp(), "  "+name+" ") {
			t.Errorf("the help does not name table %s", name)
		}
	}
	run := runOf(step("a", 1, 1, 4))
	run.Manifest.Tables = []string{"of-a-newer-bench"}
	if got := string(print(t, func(out *bytes.Buffer) error {
		return Write(out, run,
			table.Options{})
	})); !strings.Contains(got, "of-a-newer-bench") {
		t.Errorf("a table that is not known is passed over in silence:\n%s", got)
	}
}

// Nothing extrapolated stands anywhere without its mark and what it means.
func TestExtrapolatedIsSaidEverywhere(t *testing.T) {
	var steps []results.Step
	for repeat := 1; repeat <= 3; repeat++ {
		steps = append(steps, step("tp8", 128, repeat, 4+float64(repeat)/100),
			step("tp2x4", 128, repeat, 5+float64(repeat)/100))
		r := steps[len(steps)-1].Result
		r.Extrapolated = results.Extrapolate(*r.Figures, 4, 32)
	}
	run := runOf(steps...)
	run.Manifest.Tables = TableNames()
	files, err := filesOf(run)
	if err != nil {
		t.Fatal(err)
	}
	files["terminal"] = print(t, func(out *bytes.Buffer) error { return Write(out, run, table.Options{}) })
	files["step"] = print(t, func(out *bytes.Buffer) error { return detail.Step(out, run, steps[1].Result.Step.ID) })
	sides := []versus.Side{{Name: "a", Run: run}, {Name: "b", Run: run}}
	c, err := versus.Compare(sides, versus.CompareOptions{Rounds: 10})
	if err != nil {
		t.Fatal(err)
	}
	files["compare"] = print(t, func(out *bytes.Buffer) error {
		return differences.WriteComparison(out, c, table.ForTerminal, nil, table.Options{})
	})
	files["compare.json"] = print(t, func(out *bytes.Buffer) error { return differences.ComparisonJSON(out, c, nil) })
	files["benchstat"] = print(t, func(out *bytes.Buffer) error { return export.Benchstat(out, sides) })
	for _, tab := range []string{"concurrency", "sizes", "backends", "repeats", "differences", "appendix"} {
		files[tab] = print(t, func(out *bytes.Buffer) error {
			return Tables(out, run, []string{tab}, table.ForTerminal, table.Options{})
		})
	}
	for name, content := range files {
		if strings.HasPrefix(name, "steps/tp8") {
			continue
		}
		if !bytes.Contains(bytes.ToLower(content), []byte("extrapolated")) {
			t.Errorf("%s does not say that figures are extrapolated:\n%s", name, content)
		}
	}
	for _, row := range grid.LayOutRun(run).Rows {
		for _, e := range row.Cells {
			if e.Best && strings.HasPrefix(row.Cells[0].Text, "tp2x4") {
				t.Errorf("an extrapolated figure is called best: %s", e.Text)
			}
		}
	}
	if want := fmt.Sprintf("max concurrency of %d", 32); !bytes.Contains(files["terminal"], []byte(want)) {
		t.Errorf("the report does not say %q", want)
	}
}

// The tables of the document that multiplies one replica by four.
func TestExtrapolatedFigures(t *testing.T) {
	s := blockStep("vllm", "m", 32, 286.06, 64, 220902, 192103, 1, 1)
	f := s.Result.Figures
	f.RequestThroughput, f.OutputThroughput, f.TotalTokenThroughput = new(3.58), new(671.54), new(1443.76) // as printed
	s.Result.Extrapolated = results.Extrapolate(*f, 4, 32)
	run := runOf(s)
	concurrency := string(print(t, func(out *bytes.Buffer) error {
		return Tables(out, run, []string{"concurrency"}, table.ForTerminal, table.Options{})
	}))
	block := string(print(t, func(out *bytes.Buffer) error { return detail.Block(out, s.Result) }))
	for _, want := range []string{"71.52", "14.32", "2686.16", "5775.04"} {
		if !strings.Contains(concurrency, "#"+want) {
			t.Errorf("the table lacks #%s:\n%s", want, concurrency)
		}
		if !strings.Contains(block, want) {
			t.Errorf("the block lacks %s:\n%s", want, block)
		}
	}
	for _, measured := range []string{"286.06", "3.58", "671.54", "1443.76"} {
		if !strings.Contains(block, measured) {
			t.Errorf("the block lacks what was measured, %s:\n%s", measured, block)
		}
	}
}
