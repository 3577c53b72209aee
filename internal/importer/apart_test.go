package importer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/internal/numtest"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// saved is a file of vLLM's client with some keys replaced.
func saved(keys ...string) string {
	all := map[string]string{
		"backend": `"vllm"`, "endpoint_type": `"openai"`, "model_id": `"M"`, "tokenizer_id": `"M"`,
		"num_prompts": "160", "request_rate": `"inf"`,
		"burstiness": "1.0", "max_concurrency": "16", "duration": "16.0", "completed": "160",
		"total_input_tokens":  "20480",
		"total_output_tokens": "20480", "output_throughput": "1280.0", "mean_ttft_ms": "50.0",
	}
	for i := 0; i+1 < len(keys); i += 2 {
		all[keys[i]] = keys[i+1]
	}
	var parts []string
	for key, value := range all {
		if value != "" {
			parts = append(parts, fmt.Sprintf("%q: %s", key, value))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func block(completed int) string {
	return fmt.Sprintf(`
============ Serving Benchmark Result ============
Successful requests:                     %d
Benchmark duration (s):                  2.00
Request throughput (req/s):              %d.00
Mean TTFT (ms):                          12.50
==================================================
`, completed, completed/2)
}

const client = "python benchmark_serving.py --backend vllm --model M --dataset-name random --num-prompts 160 " +
	"--max-concurrency 16 "

// Results that differ in the load or the server are points or variants of
// their own, named as scenarios name points; equal ones are repeats.
func TestApart(t *testing.T) {
	tests := []struct {
		name  string
		files []string
		want  string // "VARIANT POINT rREPEAT" of each result
	}{
		{"equal", []string{saved(), saved()}, "M c16 r1, M c16 r2"},
		{"backend", []string{saved(), saved("backend", `"sglang"`)}, "M vllm c16 r1, M sglang c16 r1"},
		{
			"endpoint type",
			[]string{saved(), saved("endpoint_type", `"openai-chat"`)},
			"M openai c16 r1, M openai-chat c16 r1",
		},
		{"tokenizer", []string{saved(), saved("tokenizer_id", `"T"`)}, "M tokenizer M c16 r1, M tokenizer T c16 r1"},
		{
			"metadata",
			[]string{saved("tensor_parallel_size", `"4"`), saved("tensor_parallel_size", `"8"`)},
			"M tensor_parallel_size 4 c16 r1, M tensor_parallel_size 8 c16 r1",
		},
		{
			"metadata of one",
			[]string{saved(), saved("tensor_parallel_size", `"8"`)},
			"M c16 r1, M tensor_parallel_size 8 c16 r1",
		},
		{"best_of", []string{saved("best_of", "1"), saved("best_of", "2")}, "M c16 r1, M c16-best-of-2 r1"},
		{
			"a ramp",
			[]string{saved(), saved("ramp_up_strategy", `"linear"`, "ramp_up_start_rps", "1", "ramp_up_end_rps", "10")},
			"M c16 r1, M c16-ramp-linear-1-10 r1",
		},
		{"a simulation", []string{saved(), saved("simulated", "true")}, "M c16 r1, M simulated c16 r1"},
		{"a copy", []string{saved("date", `"20250901-000000"`), saved("date", `"20250901-000000"`)}, "M c16 r1"},
		{
			"runs of two moments",
			[]string{saved("date", `"20250901-000000"`), saved("date", `"20250901-001000"`)},
			"M c16 r1, M c16 r2",
		},
		{"burstiness", []string{saved(), saved("burstiness", "0.5")}, "M c16-b1 r1, M c16-b0.5 r1"},
		{"number of prompts", []string{saved(), saved("num_prompts", "1000", "completed", "1000", "total_input_tokens",
			"128000")}, "M c16-n160 r1, M c16-n1000 r1"},
		{
			"rate",
			[]string{saved("request_rate", "2.0"), saved("request_rate", "4.0")},
			"M rate2-c16 r1, M rate4-c16 r1",
		},
		{"rate alone", []string{saved("request_rate", "2.0", "max_concurrency", "null")}, "M rate2 r1"},
		{
			"lengths of prompts, which only the totals tell",
			[]string{saved(), saved("total_input_tokens", "1310720")},
			"M c16-in128 r1, M c16-in8192 r1",
		},
		{
			"lengths of prompts that differ as those of repeats do",
			[]string{saved(), saved("total_input_tokens", "21000")},
			"M c16 r1, M c16 r2",
		},
		{
			"lengths of answers",
			[]string{saved(), saved("total_output_tokens", "200000")},
			"M c16-out128 r1, M c16-out1250 r1",
		},
		{
			"lengths in commands",
			[]string{client + "--random-input-len 128 --random-output-len 128\n" + block(160) + client +
				"--random-input-len 8192 --random-output-len 1024\n" + block(160)},
			"M c16-in128-out128 r1, M c16-in8192-out1024 r1",
		},
		{"one command for all blocks", []string{client + "\n" + block(160) + strings.Replace(block(160), "12.50",
			"12.75", 1)}, "M c16 r1, M c16 r2"},
		{
			"one command, contradicted by a block",
			[]string{client + "\n" + block(160) + strings.Replace(block(160), "Mean TTFT",
				"Maximum request concurrency:  4\nMean TTFT", 1)},
			"M c16 r1, M c4 r1",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var sources []Source
			for i, data := range tt.files {
				sources = append(sources, Source{fmt.Sprintf("f%d", i), []byte(data)})
			}
			got, err := Import(sources, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, s := range got.Steps {
				names = append(names, fmt.Sprintf("%s %s r%d", s.Result.Step.Variant, s.Result.Step.Point,
					s.Result.Step.Repeat))
			}
			if diff := cmp.Diff(tt.want, strings.Join(names, ", ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A test of llama-bench that two files have, or one has twice, is no repeat of
// itself; one that was run again is.
func TestCopiesOfTests(t *testing.T) {
	row := func(speed, at string) string {
		return `{"model_filename":"m.gguf","model_type":"x","n_prompt":64,"n_gen":0,"avg_ts":` + speed +
			`,"stddev_ts":1.5,"test_time":"` + at + "\"}\n"
	}
	one, again := row("100", "2025-07-16T02:44:43Z"), row("100", "2025-07-17T02:44:43Z")
	tests := []struct {
		name  string
		files []string
		rows  []int // of each result
		told  int   // warnings about copies
	}{
		{"twice in one file", []string{one + one}, []int{1}, 1},
		{"in two files", []string{one, one}, []int{1}, 1},
		{"in two files, one of which has more", []string{one, one + again}, []int{1, 1}, 1},
		{"run again", []string{one + again}, []int{2}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var sources []Source
			for i, data := range tt.files {
				sources = append(sources, Source{fmt.Sprintf("f%d", i), []byte(data)})
			}
			got, err := Import(sources, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var rows []int
			told := 0
			for _, s := range got.Steps {
				rows = append(rows, len(s.Result.LlamaBench))
				for _, w := range s.Result.Warnings {
					if strings.Contains(w.Message, "once more") {
						told++
					}
				}
			}
			if diff := cmp.Diff(tt.rows, rows); diff != "" || told != tt.told {
				t.Errorf("%d warnings, want %d; rows (-want +got):\n%s", told, tt.told, diff)
			}
		})
	}
}

func TestApartWithNames(t *testing.T) {
	copied := []Source{{"a.json", []byte(saved("date", `"1"`))}, {"b.json", []byte(saved("date", `"1"`))}}
	if got, err := Import(copied, Options{VariantPattern: `^(.)`}); err != nil || len(got.Steps) != 2 {
		t.Errorf("copies under names that the user gives: %v, want two steps", err)
	}

	named, err := Import(copied, Options{VariantPattern: `^(z*)`})
	if err != nil || named.Steps[0].Result.Step.Variant != "M" {
		t.Errorf("a pattern that matches nothing of the name: %v, want the variant of the file", err)
	}

	files := []Source{{"a.json", []byte(saved())}, {"b.json", []byte(saved("backend", `"sglang"`))}}
	got, err := Import(files, Options{Variant: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := got.Steps[0].Result.Step, got.Steps[1].Result.Step; a.Variant != "mine" || b.Variant != "mine" ||
		a.Point == b.Point {
		t.Errorf("steps %+v and %+v, want variant mine at two points", a, b)
	}

	got, err = Import(files, Options{Renames: []Rename{{"M vllm", "ours"}}})
	if err != nil {
		t.Fatal(err)
	}
	if a := got.Steps[0].Result.Step; a.Variant != "ours" || !strings.HasPrefix(a.ID, "ours_") {
		t.Errorf("step %+v, want variant ours", a)
	}
	plain, err := Import(files, Options{})
	if err != nil {
		t.Fatal(err)
	}
	runs := func(i *Imported, o Options) string { return i.Runs(Naming{}, o)[0].Manifest.Run }
	if runs(plain, Options{}) == runs(got, Options{Renames: []Rename{{"M", "ours"}}}) {
		t.Error("an import with a new name has the id of the one without")
	}
	_, err = Import(files, Options{Renames: []Rename{{"M vlm", "ours"}}})
	if err == nil || !strings.Contains(err.Error(), `rename "M vlm=ours": no variant has this name, want one of M vllm, `) {
		t.Errorf("a new name for a variant that no file has: error %v, want one that names the variants", err)
	}
	for _, text := range []string{"", "a", "=b", "a="} {
		if _, err := ParseRename(text); err == nil {
			t.Errorf("ParseRename(%q) = nil error, want one", text)
		}
	}
}

// What a file does not state is not known, and not 0.
func TestCountsKnown(t *testing.T) {
	tests := []struct {
		name, file               string
		completed, failed, asked bool
	}{
		{"a saved file", saved(), true, true, true},
		{"completed is absent", saved("completed", "", "num_prompts", "200", "duration", ""), false, false, true},
		{"a bare block", block(10), true, false, false},
		{"a block with failures", strings.Replace(block(10), "Benchmark duration",
			"Failed requests:  2\nBenchmark duration", 1), true, true, true},
		{"AIPerf", aiperfJSON, true, false, false},
		{"AIPerf with errors", strings.Replace(aiperfJSON, `"total_output_tokens"`,
			`"error_request_count":{"unit":"requests","avg":3},"total_output_tokens"`, 1), true, true, true},
		{"GuideLLM", guideLLM, true, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Import([]Source{{"f", []byte(tt.file)}}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			r := got.Steps[0].Result
			if r.KnowsCompleted() != tt.completed || r.KnowsFailed() != tt.failed || r.KnowsAsked() != tt.asked {
				t.Errorf("completed %v, failed %v, asked %v; want %v, %v, %v", r.KnowsCompleted(), r.KnowsFailed(),
					r.KnowsAsked(), tt.completed, tt.failed, tt.asked)
			}
		})
	}
}

const (
	aiperfJSON = `{"schema_version":"1.3","aiperf_version":"0.11.0","request_throughput":{"unit":"requests/sec","avg":18.099},"request_latency":{"unit":"ms","avg":6964.9,"p50":6303.45,"p99":20855.65,"count":5429},"request_count":{"unit":"requests","avg":5429.0},"time_to_first_token":{"unit":"ms","avg":92.8,"p50":85.74,"p99":380.5,"std":45.5,"count":5429},"inter_token_latency":{"unit":"ms","avg":25.84,"p50":25.79,"p99":30.1,"count":5427},"output_token_throughput":{"unit":"tokens/sec","avg":4826.8},"total_output_tokens":{"unit":"tokens","avg":1447861.0},"benchmark_duration":{"unit":"sec","avg":299.96},"input_config":{"models":{"items":[{"name":"qwen3-4b"}]},"phases":[{"name":"profiling","type":"concurrency","concurrency":128}]}}`
	aiperfCSV  = `Metric,avg,min,max,p1,p5,p10,p25,p50,p75,p90,p95,p99,std
Time to First Token (ms),92.81,50.62,503.49,63.88,67.22,69.15,73.62,85.75,96.03,110.40,127.66,380.53,45.56
Inter Token Latency (ms),25.84,14.74,52.03,22.25,23.33,23.93,24.85,25.79,26.72,27.80,28.79,30.12,1.67
Request Latency (ms),6964.90,95.57,31666.91,344.77,855.75,1546.99,3251.94,6303.45,9269.21,13602.36,16877.64,20855.65,4774.74

Metric,Value
Output Token Throughput (tokens/sec),4826.84
Request Throughput (requests/sec),18.10
Request Count,5429`
	guideLLM = `{"metadata":{"version":1,"guidellm_version":"0.5.2"},"args":{"target":"http://localhost:8000","model":"m"},"benchmarks":[
{"config":{"strategy":{"type_":"concurrent","streams":16}},"duration":60.0,"request_totals":{"successful":240,"errored":2,"incomplete":0,"total":242},"metrics":{
"requests_per_second":{"successful":{"mean":4.0,"median":3.9}},"time_to_first_token_ms":{"successful":{"mean":80.1,"median":75.0,"std_dev":5.0,"count":240,"percentiles":{"p99":200.0,"p999":300.0}}},
"inter_token_latency_ms":{"successful":{"mean":20.0}},"time_per_output_token_ms":{"successful":{"mean":25.0}},"request_latency":{"successful":{"mean":2.5}},
"output_tokens_per_second":{"successful":{"mean":900.0}},"output_token_count":{"successful":{"mean":225.0,"total_sum":54000.0}}}},
{"config":{"strategy":{"type_":"constant","rate":2.0}},"duration":60.0,"metrics":{"requests_per_second":{"successful":{"mean":2.0}}}}]}`
	optimizer  = `{"config": {"client_args": {"dataset_name": "random", "random_input_len": 80000, "random_output_len": 4096, "max_concurrency": 8, "num_prompts": 600}, "server_args": {"tensor_parallel_size": 4}, "server_cmd_args": ["--tensor-parallel-size=4"]}, "results": {"backend": "vllm", "dataset_name": "random", "request_rate": null, "max_concurrency": 8, "random_input_len": 80000, "random_output_len": 4096, "duration": 6751.398178250063, "completed": 599, "total_input_tokens": 23531562, "total_output_tokens": 1260603, "total_output_tokens_retokenized": 1260598, "request_throughput": 0.08872236301062879, "input_throughput": 3485.43536890003, "output_throughput": 186.71732383687427, "mean_e2e_latency_ms": 89713.75, "median_e2e_latency_ms": 87252.2, "mean_ttft_ms": 3987.6, "median_ttft_ms": 3000.0}}`
	inferenceX = `{"hw":"mi300x","conc":64,"model":"org/Llama","framework":"vllm","precision":"fp8","tp":8,"isl":1024,"osl":1024,"tput_per_gpu":500.0,"output_tput_per_gpu":250.0,"mean_ttft":0.25,"p99_ttft":1.5,"mean_tpot":0.02,"mean_intvty":50.0}`
	mtp        = `{"n_requests":9,"total_predicted":1692,"total_draft":1248,"total_draft_accepted":936,"aggregate_accept_rate":0.75,"wall_s_total":33.2}`
)

// Reports of GuideLLM since 0.4 have counts among the metrics, and version 2
// keeps the model with each benchmark.
func TestCountsOfGuideLLM(t *testing.T) {
	const benchmark = `{"config":{"strategy":{"type_":"poisson","rate":2},"backend":{"model":"org/M"}},"metrics":{
"request_totals":{"successful":150,"errored":0,"incomplete":16,"total":166},
"requests_per_second":{"successful":{"mean":2.5},"errored":null},"text":{"tokens":{"input":null},"words":null}}%s}`
	const older = `{"config":{"strategy":{"type_":"concurrent","streams":4}},"run_stats":{"requests_made":
{"successful":150,"errored":0,"incomplete":16,"total":166}},"metrics":{"requests_per_second":{"successful":{"mean":2.5}}}}`
	for _, list := range []string{
		fmt.Sprintf(benchmark, ""), older,
		strings.Replace(fmt.Sprintf(benchmark, `,"scheduler_metrics":{"requests_made":{"successful":150,"errored":0,
"incomplete":16,"total":166}}`), `"request_totals"`, `"other_totals"`, 1),
	} {
		file := `{"metadata":{"version":2},"config":{},"benchmarks":[` + list + `]}`
		got, err := Import([]Source{{"f", []byte(file)}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := got.Steps[0].Result
		if f := r.Figures; f.Completed != 150 || f.Failed != 0 || f.Asked != 150 || r.Verdict != results.OK {
			t.Errorf("%d of %d completed, %d failed, %s; want 150 of 150, 0, ok", f.Completed, f.Asked, f.Failed,
				r.Verdict)
		}
		if list != older && (r.Step.Variant != "M" || r.Asked.Burstiness == nil || *r.Asked.Burstiness != 1) {
			t.Errorf("variant %q, burstiness %v; want M, 1", r.Step.Variant, r.Asked.Burstiness)
		}
	}
}

// What AIPerf says of its failed requests and its model is taken.
func TestErrorsAndModelOfAIPerf(t *testing.T) {
	file := strings.Replace(aiperfJSON, `"input_config":{`, `"error_request_count":{"unit":"requests","avg":3},
"error_summary":[{"error_details":{"code":500,"type":"ServerError","message":"out of memory"},"count":3}],
"input_config":{"endpoint":{"model_names":["org/Q"]},`, 1)
	file = strings.Replace(file, `"models":{"items":[{"name":"qwen3-4b"}]},`, "", 1)
	got, err := Import([]Source{{"f", []byte(file)}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := got.Steps[0].Result
	if s := r.Figures.FailureSamples; len(s) != 1 || s[0] != "ServerError: out of memory" || r.Step.Variant != "Q" {
		t.Errorf("failures %q, variant %q; want the error and Q", s, r.Step.Variant)
	}
}

func TestTools(t *testing.T) {
	none := 0.0
	tests := []struct {
		name, file, format, point      string
		steps                          int
		rate, output, ttft, tpot, e2el float64 // seconds; 0: not known
		p99                            float64
	}{
		{"AIPerf", aiperfJSON, "aiperf", "c128", 1, 18.099, 4826.8, 0.0928, 0.02584, 6.9649, 0.3805},
		{"AIPerf, CSV", aiperfCSV, "aiperf", "all", 1, 18.10, 4826.84, 0.09281, 0.02584, 6.9649, 0.38053},
		{"GuideLLM", guideLLM, "guidellm", "c16", 2, 4, 900, 0.0801, 0.020, 2.5, 0.2},
		{
			"llm-optimizer", optimizer, "llm-optimizer", "c8", 1, 0.08872236301062879, 186.71732383687427, 3.9876, none,
			89.71375, none,
		},
		{"InferenceX", inferenceX, "inferencex", "c64", 1, none, 2000, 0.25, 0.02, none, 1.5},
		{"MTP", mtp, "mtp", "all", 1, none, none, none, none, none, none},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Import([]Source{{"f", []byte(tt.file)}}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			r := got.Steps[0].Result
			if len(got.Steps) != tt.steps || r.Imported.Format != tt.format || r.Step.Point != tt.point {
				t.Fatalf("%d steps, %s at %s; want %d, %s at %s", len(got.Steps), r.Imported.Format, r.Step.Point,
					tt.steps, tt.format, tt.point)
			}
			f := r.Figures
			for _, c := range []struct {
				name string
				got  *float64
				want float64
			}{
				{"req/s", f.RequestThroughput, tt.rate},
				{"output tok/s", f.OutputThroughput, tt.output},
				{"TTFT", f.TTFT.Mean, tt.ttft},
				{"TPOT", f.TPOT.Mean, tt.tpot},
				{"E2EL", f.E2EL.Mean, tt.e2el},
				{"p99 TTFT", metrics.At(f.TTFT, 99), tt.p99},
			} {
				if c.want == none {
					if c.got != nil {
						t.Errorf("%s = %v, want null", c.name, *c.got)
					}
					continue
				}
				numtest.Near(t, c.name, c.got, c.want, 1e-9*c.want)
			}
		})
	}
}

// GuideLLM's limit of its connections is no load that was asked for.
func TestLoadOfGuideLLM(t *testing.T) {
	const report = `{"metadata":{"guidellm_version":"0.8.0"},"benchmarks":[{"config":{"strategy":{"type_":"constant",` +
		`"rate":2.0,"max_concurrency":10240},"profile":PROFILE},"metrics":{"requests_per_second":{"successful":{"mean":2}}}}]}`
	for profile, want := range map[string]string{
		`{"kind":"constant","max_concurrency":null}`: "rate2",
		`{"kind":"constant","max_concurrency":64}`:   "rate2-c10240",
		`"constant"`: "rate2-c10240",
	} {
		got, err := Import([]Source{{"f", []byte(strings.Replace(report, "PROFILE", profile, 1))}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if point := got.Steps[0].Result.Step.Point; point != want {
			t.Errorf("profile %s: point %s, want %s", profile, point, want)
		}
	}
}

func TestToolsMore(t *testing.T) {
	first := func(file string) *results.Result {
		t.Helper()
		got, err := Import([]Source{{"f", []byte(file)}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return got.Steps[0].Result
	}
	if r := first(guideLLM); r.Figures.Completed != 240 || r.Figures.Failed != 2 || r.Figures.DurationS != 60 ||
		*r.Figures.TotalOutputTokens != 54000 {
		t.Errorf("GuideLLM: %+v", r.Figures)
	}
	if r := first(optimizer); r.Params["tensor_parallel_size"] != "4" || *r.Asked.InputLen != 80000 ||
		r.Figures.Failed != 1 {
		t.Errorf("llm-optimizer: params %v, asked %+v, %d failed", r.Params, r.Asked, r.Figures.Failed)
	}
	if r := first(inferenceX); *r.Asked.InputLen != 1024 || *r.Figures.TotalTokenThroughput != 4000 ||
		r.Step.Variant != "mi300x vllm Llama fp8" {
		t.Errorf("InferenceX: %q, asked %+v, %+v", r.Step.Variant, r.Asked, r.Figures)
	}
	if d := first(mtp).Servers[0].Speculation; d == nil || *d.Rate != 0.75 {
		t.Errorf("MTP: drafting %+v", d)
	}
	if r := first(strings.Replace(saved(), "{", `{"simulated": true, `, 1)); !r.Simulated {
		t.Error("a result that says simulated is not")
	}
}

// Lines of one run of llama-bench are one result, whatever is around them;
// llama-bench's own words for no number lose no row.
func TestLinesOfLlamaBench(t *testing.T) {
	line := func(n int, sd string) string {
		return fmt.Sprintf(`{"build_commit":"abc","model_type":"m","n_prompt":%d,"n_gen":0,"avg_ts":20.0,"stddev_ts":%s,`+
			`"samples_ts":[19.9,20.1]}`, n, sd) + "\n"
	}
	tests := []struct{ name, file, format string }{
		{"nan and -nan", line(64, "0.1414") + line(128, "nan") + line(256, "-nan"), formatLlamaJSON},
		{"inf", line(64, "0.1414") + line(128, "inf") + line(256, "0.1414"), formatLlamaJSON},
		{
			"cut off, within a log", "# a log\n" + line(64, "0.1414") + line(128, "nan") + line(256, "0.1414") +
				line(512, "0")[:60], formatText,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Import([]Source{{"f", []byte(tt.file)}}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Steps) != 1 || len(got.Steps[0].Result.LlamaBench) != 3 || got.Files[0].Format != tt.format {
				t.Fatalf("%d steps of format %s, want one with three rows of %s", len(got.Steps), got.Files[0].Format,
					tt.format)
			}
			sd := got.Steps[0].Result.LlamaBench[1].TokensPerSD
			numtest.Near(t, "deviation of the samples", sd, 0.14142135623730995, 1e-9)
		})
	}
}

// An apostrophe within a value does not end it.
func TestApostropheInSQL(t *testing.T) {
	const into = `INSERT INTO llama_bench (build_commit, cpu_info, gpu_info, model_type, n_prompt, n_gen, avg_ts, stddev_ts) `
	for _, values := range []string{
		`VALUES ('abc', 'AMD's CPU, 16 cores', 'GPU "X"', 'it's', '512', '0', '900.5', '0.5');`,
		`VALUES ('abc', 'AMD''s CPU, 16 cores', 'GPU "X"', 'it''s', 512, 0, 900.5, 0.5);`,
	} {
		got, err := Import([]Source{{"f", []byte(into + values + "\n")}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		row := got.Steps[0].Result.LlamaBench[0]
		if row.CPU != "AMD's CPU, 16 cores" || row.GPU != `GPU "X"` || row.Model != "it's" || row.TokensPerS != 900.5 {
			t.Errorf("%s: row %+v", values, row)
		}
	}
}

// A file of a tool in a form that is not read is named as that tool's; a wrong
// format is an error and not a step without figures.
func TestRefused(t *testing.T) {
	tests := []struct{ name, file, format, want string }{
		{"k6", `{"root_group": {}, "metrics": {}}`, "", "a file of k6"},
		{"LLMPerf", `{"num_concurrent_requests": 1, "mean_input_tokens": 550}`, "", "a file of LLMPerf"},
		{
			"records of AIPerf", `{"metadata":{},"metrics":{},"error":null}` + "\n", "",
			"import profile_export_aiperf.json",
		},
		{"inputs of AIPerf", `{"data":[{"session_id":"a"}]}`, "", "import profile_export_aiperf.json"},
		{"experiments of genai-perf", `{"service_kind":"openai","experiments":[]}`, "", "profile_export_genai_perf.json"},
		{"CSV of GuideLLM", "Run Info,Run Info,Benchmark\nRun ID,Run Index,Type\n", "", "a CSV file of GuideLLM"},
		{"YAML of GuideLLM", "metadata:\n  guidellm_version: 0.6.0\n  version: 2\n", "", "a YAML file of GuideLLM"},
		{"Git LFS", "version https://git-lfs.github.com/spec/v1\noid sha256:35f0\nsize 9\n", "", "a Git LFS pointer"},
		{"gzip", "\x1f\x8b\x08", "", "unpack it with gunzip"},
		{"zstd", "\x28\xb5\x2f\xfd", "vllm-json", "unpack it with unzstd"},
		{"zip", "PK\x03\x04", "", "a zip archive"},
		{"llm-optimizer without results", `{"config": {}, "results": {}}`, "", "a file of llm-optimizer"},
		{"CSV without figures", "a,b,c\n1,2,3\n", "csv", "no column is a known figure"},
		{"JSON of another kind", `{"a": 1, "b": 2}`, "vllm-json", "it has no figure of format vllm-json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Import([]Source{{"f", []byte(tt.file)}}, Options{Format: tt.format})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// JSON of llama-bench between the messages of other programs.
func TestScattered(t *testing.T) {
	row := `{
  "build_commit": "abc",
  "model_filename": "m.gguf",
  "n_prompt": 0,
  "n_gen": 128,
  "avg_ts": 10.5,
  "stddev_ts": nan,
  "samples_ts": [10.0, 11.0]
}`
	tests := []struct {
		name, file string
		rows       int
		lines      string // kept, "!" before those not understood
	}{
		{
			"noise around", "ggml_vulkan: Found 1 Vulkan devices: {0} [x]\n[\n" + row +
				"\n]\n[1]  11372 segmentation fault (core dumped)\n", 1,
			"ggml_vulkan: Found 1 Vulkan devices: {0} [x] | [1]  11372 segmentation fault (core dumped)",
		},
		{
			"cut off", "noise\n[\n" + row + ",\n{\n  \"build_commit\": \"abc\",\n  \"n_gen", 1,
			`noise | !  "build_commit": "abc", |   "n_gen`,
		},
		{
			"an array on lines of its own, after a bracket", "device {\n[\n  " + strings.ReplaceAll(row, "\n", " ") + ",\n  " +
				strings.ReplaceAll(strings.Replace(row, "128", "64", 1), "\n", " ") + "\n]\n", 2, "device {",
		},
		{
			"within other objects", `{"runs": [{"bench_raw": ` + row + `}, {"bench_raw": ` + row + `}]}`, 2, "",
		},
		{
			"a block around", "noise\n[\n" + row + "\n]\nThroughput of it: 5 tok/s\n", 1,
			"noise | !Throughput of it: 5 tok/s",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Import([]Source{{"f", []byte(tt.file)}}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if rows := got.Steps[0].Result.LlamaBench; len(rows) != tt.rows || *rows[0].TokensPerSD < 0.7 {
				t.Errorf("rows %+v, want %d", rows, tt.rows)
			}
			var lines []string
			for _, l := range got.Files[0].Lines {
				lines = append(lines, map[results.LineKind]string{results.LineNotFigures: "!"}[l.Kind]+l.Text)
			}
			if diff := cmp.Diff(tt.lines, strings.Join(lines, " | ")); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}
