package importer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/benchrig/bench/internal/importer/labels"
	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

func TestLabelled(t *testing.T) {
	for _, tt := range []struct {
		label   string
		program bool
		want    string // "": not understood
		scale   float64
	}{
		{"Mean TTFT (ms):", false, "mean_ttft_s", 1e-3},
		{"p99.9_tpot_ms", true, "p99.9_tpot_s", 1e-3},
		{"P99 ITL (s)", false, "p99_itl_s", 1},
		{"Mean E2E Latency (ms)", false, "mean_e2el_s", 1e-3},
		{"mean TTFT", false, "", 0}, // of what unit
		{"TTFT (ms)", false, "", 0}, // mean or median
		{"qps", false, "request_throughput", 1},
		{"**Req/s**", false, "request_throughput", 1},
		{"Output Tok/s", false, "output_throughput", 1},
		{"Output throughput (MB/s)", false, "", 0},
		{"Throughput", false, "", 0},
		{"Duration (s)", false, "duration_s", 1},
		{"Duration", false, "", 0},
		{"duration", true, "duration_s", 1},
		{"request_goodput:", true, "request_goodput", 1},
		{"Total generated tokens (retokenized)", false, "", 0},
		{"n_itl_s", true, "n_itl_s", 1},
		{strings.Repeat("x", 100), true, "", 0},
	} {
		got, ok := labels.Of(tt.label, tt.program)
		if ok != (tt.want != "") || ok && (got.As() != tt.want || got.Scale != tt.scale) {
			t.Errorf("labelled(%q, %v) = %q x %g, %v; want %q x %g", tt.label, tt.program, got.As(), got.Scale, ok,
				tt.want, tt.scale)
		}
	}
}

func TestNumberIn(t *testing.T) {
	for text, want := range map[string]float64{"**1,024.50**": 1024.5, " 12 ": 12, "`3e2`": 300, "-1": -1, ".5": 0.5} {
		if got, ok := plain.Number(text); !ok || got != want {
			t.Errorf("plain.Number(%q) = %v, %v; want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "NaN", "inf", "1,2", "12 ms", "0x10", "1_000", "1e999"} {
		if got, ok := plain.Number(text); ok {
			t.Errorf("plain.Number(%q) = %v, want none", text, got)
		}
	}
}

const smallBlock = `# tp8 c=4
============ Serving Benchmark Result ============
Successful requests:                     10        
Benchmark duration (s):                  2.00      
Request throughput (req/s):              5.00      
Mean TTFT (ms):                          12.50     
==================================================
`

// The same block however a terminal, an editor or a mail program left it.
func TestEncodings(t *testing.T) {
	utf16le := []byte{0xFF, 0xFE}
	utf16be := []byte{0xFE, 0xFF}
	for _, unit := range utf16.Encode([]rune(smallBlock)) {
		utf16le = append(utf16le, byte(unit), byte(unit>>8))
		utf16be = append(utf16be, byte(unit>>8), byte(unit))
	}
	for name, data := range map[string][]byte{
		"plain": []byte(smallBlock), "utf-16le": utf16le, "utf-16be": utf16be,
		"crlf": []byte(strings.ReplaceAll(smallBlock, "\n", "\r\n")),
		"mark": append([]byte{0xEF, 0xBB, 0xBF}, smallBlock...), "ansi": []byte(strings.ReplaceAll(smallBlock, "Mean",
			"\x1b[1;32mMean\x1b[0m")),
		"bars": []byte(strings.Replace(smallBlock, "Successful",
			" 50%|#####     | 5/10\r100%|##########| 10/10\r\x1b[KSuccessful", 1)),
		"quoted": []byte("> " + strings.ReplaceAll(strings.TrimSpace(smallBlock), "\n", "\n> ")),
		"binary": append([]byte("\x80\n"), smallBlock...),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Import([]Source{{"a.log", data}}, Options{})
			if err != nil || len(got.Steps) != 1 {
				t.Fatalf("%v: %+v", err, got)
			}
			r := got.Steps[0].Result
			if f := r.Figures; f.Completed != 10 || *f.RequestThroughput != 5 || *f.TTFT.Mean != 0.0125 ||
				f.TTFT.N != 10 || r.Step.Point != "c4" {
				t.Errorf("%+v: %+v", r.Step, f)
			}
		})
	}
}

func TestContradictions(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{
			"rates", strings.Replace(smallBlock, "5.00 ", "6.00 ", 1),
			"imported-disagrees: request_throughput is stated as 6, and counts and duration give 4.98253 to 5.01753",
		},
		{
			"twice", strings.Replace(smallBlock, "Mean TTFT", "Mean TTFT (ms): 13.5\nMean TTFT", 1),
			"imported-disagrees: Mean TTFT (ms) is 12.50, and had another value before",
		},
		{
			"no number", strings.Replace(smallBlock, "12.50", "fast", 1),
			`imported-unusable: Mean TTFT (ms) is "fast", which is not a number: left out`,
		},
		{
			"NaN", `{"duration": 2, "completed": 0, "mean_ttft_ms": NaN}`,
			`imported-unusable: mean_ttft_ms is "NaN", which is not a number: left out`,
		},
		{
			"key twice", `{"duration": 2, "completed": 4, "completed": 5}`,
			"imported-unusable: a key occurs twice; the last value is used: completed (before: 4)",
		},
		{
			"arrays", detailed("[0.1, 0.2]", "200"),
			"imported-disagrees: mean_ttft is stated as 200 ms, and the single requests give 150 ms",
		},
		{
			"array lengths", detailed("[0.1, 0.2, 0.3]", "200"),
			"imported-disagrees: the arrays of single requests differ in length (ttfts 3, itls 2, output_lens 2, " +
				"errors 2): they are not used",
		},
		{
			"totals", strings.Replace(detailed("[0.1, 0.2]", "150"), `"total_output_tokens": 5`,
				`"total_output_tokens": 6`, 1),
			"imported-disagrees: total_output_tokens is stated as 6, and the single requests give 5",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Import([]Source{{"a", []byte(tt.in)}}, Options{})
			if err != nil || len(got.Steps) != 1 {
				t.Fatalf("%v: %+v", err, got)
			}
			var all []string
			for _, w := range got.Steps[0].Result.Warnings {
				all = append(all, fmt.Sprintf("%s: %s", w.Code, w.Message))
			}
			if !strings.Contains(strings.Join(all, "\n"), tt.want) {
				t.Errorf("warnings %q lack %q", all, tt.want)
			}
		})
	}
}

// detailed is a saved result of two requests.
func detailed(ttfts, mean string) string {
	return `{"duration": 2, "completed": 2, "failed": 0, "total_output_tokens": 5, "ttfts": ` + ttfts +
		`, "itls": [[0.1], [0.1, 0.1]], "output_lens": [2, 3], "errors": ["", ""],
"start_times": [100.5, 101.5], "latencies": [0.2, 0.4], "mean_ttft_ms": ` + mean + `}`
}

func TestRecords(t *testing.T) {
	got, err := Import([]Source{{"a.json", []byte(detailed("[0.1, 0.2]", "150"))}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	records := got.Steps[0].Records
	if len(records) != 2 || *records[1].SentS != 1 || records[1].ChunkKinds != "ttt" || *records[1].OutputTokens != 3 ||
		records[1].OutputTokensSource != results.CountImported {
		t.Fatalf("records %+v", records)
	}
	if end := records[1].EndS; end < 1.3999 || end > 1.4001 {
		t.Errorf("ends at %v, want 1.4", end)
	}
	again := metrics.Summarize(records, metrics.Params{DurationS: 2})
	f := got.Steps[0].Result.Figures
	if again.TTFT.N != 2 || *again.TTFT.Mean-*f.TTFT.Mean > 1e-9 || *f.TPOT.Mean != 0.1 || f.ITL.N != 3 ||
		f.E2EL.N != 2 {
		t.Errorf("from the records %+v, imported %+v", again.TTFT, f)
	}
}

// A client that says how long a request waited for others says when it was due.
func TestQueueTimes(t *testing.T) {
	for _, tt := range []struct {
		queues   string
		intended [2]float64
		sent     [2]float64
	}{
		{"[0.0, 0.5]", [2]float64{0, 0.5}, [2]float64{0, 1}},
		{"[1.5, 0.0]", [2]float64{0, 2.5}, [2]float64{1.5, 2.5}},
		{"[0.5]", [2]float64{0, 1}, [2]float64{0, 1}}, // of no use
	} {
		text := strings.Replace(detailed("[0.1, 0.2]", "150"), `"start_times"`, `"queue_times": `+tt.queues+
			`, "start_times"`, 1)
		got, err := Import([]Source{{"a.json", []byte(text)}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := got.Steps[0].Records
		intended, sent := [2]float64{r[0].IntendedS, r[1].IntendedS}, [2]float64{*r[0].SentS, *r[1].SentS}
		if intended != tt.intended || sent != tt.sent {
			t.Errorf("queue_times %s: intended %v, sent %v, want %v and %v", tt.queues, intended, sent,
				tt.intended, tt.sent)
		}
	}
}

func TestErrors(t *testing.T) {
	source := []Source{{"a.json", []byte(`{"duration": 2, "completed": 2}`)}}
	for _, tt := range []struct {
		name    string
		sources []Source
		o       Options
		want    string
	}{
		{"format", source, Options{Format: "xml"}, `format "xml": want one of vllm-json`},
		{"pattern", source, Options{VariantPattern: "("}, "pattern of variants"},
		{"pattern without a group", source, Options{VariantPattern: "x"}, "it has no group"},
		{"set", source, Options{Sets: []Setting{{"num_prompts", "many"}}}, "set num_prompts=many: want a whole number"},
		{"set too large", source, Options{Sets: []Setting{{"max_concurrency", "1e12"}}}, "want a whole number"},
		{"set rate", source, Options{Sets: []Setting{{"request_rate", "fast"}}}, "want a number, or inf"},
		{"set word", source, Options{Sets: []Setting{{"temperature", "hot"}}}, "set temperature=hot: want a number"},
		{"set truth", source, Options{Sets: []Setting{{"ignore_eos", "yes"}}}, "ignore_eos=yes: want true or false"},
		{"set nothing", source, Options{Sets: []Setting{{"host", ""}}}, "set host=: want key=value"},
		{"empty", []Source{{"a", []byte(" \n")}}, Options{}, "import a: it is empty"},
		{"nothing", []Source{{"a", []byte("hello 5\n")}}, Options{}, "no result was recognised"},
		{"cut", []Source{{"a", []byte(`{"duration": 2, "comp`)}}, Options{}, "read JSON at line 1"},
		{"deep", []Source{{"a", []byte(strings.Repeat("[", 1<<20))}}, Options{}, "read JSON at line 1"},
		{"numbers", []Source{{"a", []byte("[1, 2]")}}, Options{}, "an array of something else than objects"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Import(tt.sources, tt.o)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Import error = %v, want one with %q", err, tt.want)
			}
		})
	}
}

// What is not understood is named with its line, beside what is.
func TestNotUnderstood(t *testing.T) {
	text := "| a | b |\n|---|---|\n| 1 | 2 |\n\nThroughput was 55 tok/s.\n\n" + smallBlock + "{\"hello\": 1}\n"
	got, err := Import([]Source{{"a.log", []byte(text)}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, l := range got.Files[0].Lines {
		if l.Kind == results.LineNotFigures {
			found = append(found, fmt.Sprintf("%d: %s", l.Line, l.Text))
		}
	}
	if want := `["3: | 1 | 2 |" "5: Throughput was 55 tok/s."]`; fmt.Sprintf("%q", found) != want {
		t.Errorf("not understood: %q, want %s", found, want)
	}
}

// Repeats of a table are results of their own even if all their figures agree;
// the same block in two places is one.
func TestRepeatsAndDuplicates(t *testing.T) {
	row := "| 1.50 | 200.00 | 40.00 |\n"
	table := "| qps | mean TTFT (ms) | mean TPOT (ms) |\n|---|---|---|\n" + row + row
	got, err := Import([]Source{{"a.md", []byte("## x\n" + table)}}, Options{})
	if err != nil || len(got.Steps) != 2 || got.Steps[1].Result.Step.Repeat != 2 {
		t.Errorf("%d steps, %v; want two repeats", len(got.Steps), err)
	}
	got, err = Import([]Source{{"a.md", []byte(smallBlock + "\nAgain:\n" + smallBlock)}}, Options{})
	if err != nil || len(got.Steps) != 1 || len(got.Steps[0].Result.Imported.Also) != 1 {
		t.Errorf("%d steps, %v; want one", len(got.Steps), err)
	}
}

// A log of 100 MB, and a saved result whose arrays are as long.
func TestLargeFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("100 MB")
	}
	const size = 100 << 20
	line := []byte("INFO 12-16 16:46:04 metrics.py:482] Avg prompt throughput: 12.5 tokens/s, running: 5 reqs\n")
	log := append(bytes.Repeat(line, size/len(line)), smallBlock...)
	began := time.Now()
	got, err := Import([]Source{{"server.log", log}}, Options{})
	if err != nil || len(got.Steps) != 1 {
		t.Fatalf("%v", err)
	}
	if f := got.Files[0]; len(f.Lines) != maxLines || f.Omitted != size/len(line)+2-maxLines {
		t.Errorf("%d lines, %d left out of %d", len(f.Lines), f.Omitted, size/len(line))
	}
	t.Logf("a log of 100 MB in %v", time.Since(began))
	const most = 2 * time.Minute // of a busy machine
	if took := time.Since(began); took > most {
		t.Errorf("took %v", took)
	}
}

func TestSavedOfManyRequests(t *testing.T) {
	data, err := os.ReadFile("../../metrics/testdata/vllm-run-newest.json")
	if err != nil {
		t.Fatal(err)
	}
	var lines []byte // as --append-result writes them
	for i := range 200 {
		line := bytes.Replace(bytes.TrimSpace(data), []byte("20261127-225125"), fmt.Appendf(nil, "run %d", i), 1)
		lines = append(append(lines, line...), '\n')
	}
	got, err := Import([]Source{{"all.jsonl", lines}}, Options{})
	if err != nil || len(got.Steps) != 200 || got.Steps[199].Result.Step.Repeat != 200 ||
		got.Steps[199].Result.Imported.Line != 200 {
		t.Errorf("%v: %d steps", err, len(got.Steps))
	}
}

// Tables without outer pipes say the same as those with them.
func TestTablesWithoutOuterPipes(t *testing.T) {
	const bare = "Results:\n\nVariant | Concurrency | Output tok/s | Median TTFT (ms)\n--- | ---: | :---: | ---:\n" +
		"tp1 | 8 | 120.5 | 50.1\ntp4 | 8 | 410.2 |\n\nand\n\nmodel | size | params | backend | ngl | test | t/s\n" +
		"-- | --: | --: | -- | --: | --: | --:\nllama | 4.58 GiB | 8.03 B | CUDA | 99 | pp512 | 5000.00 ± 10.00\n"
	var piped strings.Builder
	for line := range strings.Lines(bare) {
		if line = strings.TrimSuffix(line, "\n"); strings.Contains(line, "|") {
			line = "| " + line + " |"
		}
		piped.WriteString(line + "\n")
	}

	read := func(text string) (got []string) {
		imported, err := Import([]Source{{"t.md", []byte(text)}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range imported.Steps {
			data, err := json.Marshal(s.Result)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(data))
		}
		return got
	}
	got, want := read(bare), read(piped.String())
	if len(want) != 3 || !slices.Equal(got, want) {
		t.Errorf("without outer pipes: %d steps\n%s\nwant\n%s", len(got), got, want)
	}

	for _, text := range []string{
		"a | b\nc | d\n", "Req/s | Output tok/s | x\n--- | ---\n1 | 2 | 3\n", "cat x | grep Req/s | less\n-- --\n",
	} {
		if got, err := Import([]Source{{"t.md", []byte(text)}}, Options{}); err == nil {
			t.Errorf("%q is read as %d steps, want an error", text, len(got.Steps))
		}
	}
}

// What a comma means is decided by all values of a file, and told where nothing
// decides it.
func TestCommas(t *testing.T) {
	block := func(lines ...string) string {
		return "============ Serving Benchmark Result ============\n" + strings.Join(lines, "\n") + "\n" +
			strings.Repeat("=", 50) + "\n"
	}
	const count = "Successful requests: 1,024"
	for _, tt := range []struct {
		name, in string
		want     string // duration, output tok/s, mean TTFT; then the warnings' codes
	}{
		{"fractions", block(count, "Benchmark duration (s): 63,81", "Output token throughput (tok/s): 2.993,85",
			"Mean TTFT (ms): 1,024"), "63.81 2993.85 0.001024"},
		{
			"a fraction below one decides", block("Benchmark duration (s): 1,024", "Mean TTFT (ms): 0,512"),
			"1.024 - 0.000512",
		},
		{"thousands", block(count, "Benchmark duration (s): 63.81", "Output token throughput (tok/s): 2,993.85",
			"Mean TTFT (ms): 1,024"), "63.81 2993.85 1.024"},
		{"a point elsewhere decides", block("Benchmark duration (s): 63.81", "Mean TTFT (ms): 1,024"), "63.81 - 1.024"},
		{"a count decides", block(count, "Mean TTFT (ms): 1,024"), "0 - 1.024"},
		{
			"nothing decides", block("Benchmark duration (s): 63", "Mean TTFT (ms): 1,024"),
			"63 - 1.024 imported-ambiguous",
		},
		{"both kinds", block("Benchmark duration (s): 63,81", "Output token throughput (tok/s): 2,993.85",
			"Mean TTFT (ms): 1,024"), "63.81 2993.85 - imported-ambiguous imported-unusable"},
		{
			"thousands of millions", block("Benchmark duration (s): 63.81",
				"Output token throughput (tok/s): 1,002,993"),
			"63.81 1002993 -",
		},
		{
			"points as separators", block("Benchmark duration (s): 63,81", "Output token throughput (tok/s): 2.993"),
			"63.81 2993 -",
		},
		{
			"a table",
			"| Model | Duration (s) | Output Tok/s | Mean TTFT (ms) |\n|---|---|---|---|\n" +
				"| a | 63,81 | **1,024** | 0,512 |\n",
			"63.81 1.024 0.000512",
		},
		{"semicolons", "duration;output_throughput;mean_ttft_ms\n63,81;1,024;0,512\n", "63.81 1.024 0.000512"},
		{"quoted cells", "duration,output_throughput,mean_ttft_ms\n63.81,\"1,024\",12\n", "63.81 1024 0.012"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Import([]Source{{"a", []byte(tt.in)}}, Options{})
			if err != nil || len(got.Steps) != 1 {
				t.Fatalf("%v: %+v", err, got)
			}
			r := got.Steps[0].Result
			text := func(v *float64) string {
				if v == nil {
					return "-"
				}
				return fmt.Sprintf("%.9g", *v)
			}
			found := []string{
				fmt.Sprintf("%.9g", r.Figures.DurationS), text(r.Figures.OutputThroughput),
				text(r.Figures.TTFT.Mean),
			}
			for _, w := range r.Warnings {
				if w.Code == results.WarnImportedAmbiguous || w.Code == results.WarnImportedUnusable {
					found = append(found, string(w.Code))
				}
			}
			if s := strings.Join(found, " "); s != tt.want {
				t.Errorf("got %q, want %q; warnings %v", s, tt.want, r.Warnings)
			}
		})
	}
}

// llama-bench's table, as a German page shows it.
func TestCommasOfLlamaBench(t *testing.T) {
	const page = `| model | size | params | backend | ngl | test | t/s |
| --- | ---: | ---: | --- | --: | ---: | ---: |
| llama 7B Q4_0 | 3,56 GiB | 6,74 B | ROCm | 99 | pp512 | 1.878,31 ± 4,11 |
| llama 7B Q4_0 | 3,56 GiB | 6,74 B | ROCm | 99 | tg128 | 39,33 ± 0,00 |
`
	got, err := Import([]Source{{"a.md", []byte(page)}}, Options{})
	if err != nil || len(got.Steps) != 1 || len(got.Steps[0].Result.LlamaBench) != 2 {
		t.Fatalf("%v: %+v", err, got)
	}
	rows := got.Steps[0].Result.LlamaBench
	if rows[0].TokensPerS != 1878.31 || rows[1].TokensPerS != 39.33 || *rows[0].TokensPerSD != 4.11 {
		t.Errorf("rows %+v", rows)
	}
}

// A result of the simulator stays marked, whatever form it was saved or printed in.
func TestSimulatedStaysMarked(t *testing.T) {
	const line = results.SimulatedMark + " these figures come from bench's simulator, not from an inference engine\n"
	other := strings.Replace(smallBlock, "c=4", "c=8", 1)
	for _, tt := range []struct{ name, in, want string }{
		{"saved", `{"duration": 2, "completed": 4, "simulated": true}`, "true"},
		{"saved by an engine", `{"duration": 2, "completed": 4, "simulated": false}`, "false"},
		{"above a block", strings.Replace(smallBlock, "=====", line+"=====", 1) + other, "true false"},
		{"above all", line + "\nsome words\n" + smallBlock + other, "true true"},
		{"quoted", "> " + line + ">\n> " + strings.ReplaceAll(strings.TrimSpace(smallBlock), "\n", "\n> "), "true"},
		{"none", smallBlock, "false"},
	} {
		got, err := Import([]Source{{"a", []byte(tt.in)}}, Options{})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var marks []string
		for _, s := range got.Steps {
			marks = append(marks, fmt.Sprint(s.Result.Simulated))
		}
		if text := strings.Join(marks, " "); text != tt.want {
			t.Errorf("%s: simulated %q, want %q", tt.name, text, tt.want)
		}
	}
}

// A count that a file does not state is null, not 0.
func TestUnknownCountsAreNull(t *testing.T) {
	got,
		err := Import([]Source{{
		"a",
		[]byte(
			`{"date": "20250217-104315", "backend": "vllm", "model_id": "m", "num_prompts": 200, "request_rate": 4, "mean_ttft_ms": 189.1, "p99_ttft_ms": 336.8}`),
	}}, Options{})
	if err != nil || len(got.Steps) != 1 {
		t.Fatalf("%v: %+v", err, got)
	}
	data, err := json.Marshal(got.Steps[0].Result)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"completed":null,"failed":null`, `"duration":null`,
		`"asked":200,"completed":null,"failed":null,"unsent":null,"duration_s":null,"peak_concurrent_requests":null`,
		`"max_concurrent_requests":null`, `"ttft_s":{"n":0,"mean":0.1891`,
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%s is not in %s", want, data)
		}
	}
	var back results.Result
	if err := json.Unmarshal(data, &back); err != nil || back.KnowsCompleted() || back.Figures == nil {
		t.Errorf("read back: %v, %+v", err, back.Figures)
	}
}
