package programs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
)

const (
	batchedRow = `{"n_kv_max": 2048, "n_batch": 2048, "n_ubatch": 512, "flash_attn": -1, "is_pp_shared": 0, ` +
		`"n_gpu_layers": 99, "n_threads": 8, "n_threads_batch": 8, "pp": 128, "tg": 64, "pl": 4, "n_kv": 768, ` +
		`"t_pp": 0.256000, "speed_pp": 2000.000000, "t_tg": 2.560000, "speed_tg": 100.000000, "t": 2.816000, "speed": 272.727264}`
	throughput = `{"elapsed_time": 20.0, "num_requests": 100, "total_num_tokens": 40000, "requests_per_second": 5.0, "tokens_per_second": 2000.0}`
	latency    = `{"avg_latency": 2.0, "std_latency": 0.8, "latencies": [1.0, 2.0, 3.0], "percentiles": {"10": 1.2, "99": 2.98, "50": 2.0}}`
	startup    = `{"avg_cold_startup_time": 60.0, "cold_startup_times": [50.0, 70.0], "cold_startup_percentiles": {"50": 60.0}, ` +
		`"avg_cold_compilation_time": 20.0, "cold_compilation_times": [20.0, 20.0], "avg_warm_startup_time": 30.0, ` +
		`"warm_startup_times": [30.0], "avg_warm_compilation_time": NaN}`
)

func programOf(t *testing.T, object string) Program {
	t.Helper()
	return Of(func(keys ...string) bool {
		return !slices.ContainsFunc(keys, func(key string) bool { return !strings.Contains(object, `"`+key+`"`) })
	})
}

func shown(out Output) (all []string) {
	for _, m := range out.Measures {
		line := fmt.Sprintf("%s %.6g n %d", m.Name, *m.Value, m.N)
		if m.SD != nil {
			line += fmt.Sprintf(" sd %.3g", *m.SD)
		}
		all = append(all, line)
	}
	return all
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, object string
		program      Program
		want         []string
		notes        []string // parts of them
	}{
		{"a batch", batchedRow, Batched, []string{
			"pp128_tg64_b4_prefill_tokens_per_s 2000 n 1", "pp128_tg64_b4_decode_tokens_per_s 100 n 1",
			"pp128_tg64_b4_tokens_per_s 272.727 n 1",
			"pp128_tg64_b4_prefill_s 0.256 n 1", "pp128_tg64_b4_decode_s 2.56 n 1",
		}, nil},
		{"a batch that contradicts itself", strings.Replace(batchedRow, "100.000000", "150.0", 1), Batched, []string{
			"pp128_tg64_b4_prefill_tokens_per_s 2000 n 1", "pp128_tg64_b4_decode_tokens_per_s 150 n 1",
			"pp128_tg64_b4_tokens_per_s 272.727 n 1",
			"pp128_tg64_b4_prefill_s 0.256 n 1", "pp128_tg64_b4_decode_s 2.56 n 1",
		}, []string{"speed_tg is 150, and 256 tokens in 2.56 s are 100"}},
		{"throughput", throughput, Throughput, []string{
			"tokens_per_s 2000 n 100", "requests_per_s 5 n 100", "elapsed_s 20 n 100",
		}, nil},
		{
			"a rate that does not follow", strings.Replace(throughput, "5.0", "50.0", 1), Throughput,
			[]string{"tokens_per_s 2000 n 100", "requests_per_s 50 n 100", "elapsed_s 20 n 100"},
			[]string{"requests_per_second is 50, and the count over the time is 5"},
		},
		{"latency", latency, Latency, []string{
			"batch_latency_s 2 n 3 sd 1", "p10_batch_latency_s 1.2 n 3", "p50_batch_latency_s 2 n 3",
			"p99_batch_latency_s 2.98 n 3",
		}, nil},
		{
			"a mean that is not that of the samples", strings.Replace(latency, "2.0,", "5.0,", 1), Latency,
			[]string{
				"batch_latency_s 2 n 3 sd 1", "p10_batch_latency_s 1.2 n 3", "p50_batch_latency_s 2 n 3",
				"p99_batch_latency_s 2.98 n 3",
			},
			[]string{"batch latency is stated as 5, and the samples have a mean of 2"},
		},
		{"starts", strings.Replace(startup, "NaN", `"NaN"`, 1), Startup, []string{
			"cold_startup_s 60 n 2 sd 14.1", "cold_compilation_s 20 n 2 sd 0", "warm_startup_s 30 n 1",
		}, []string{"warm compilation is not a number"}},
	} {
		if got := programOf(t, c.object); got != c.program {
			t.Errorf("%s: written by %q, want %q", c.name, got, c.program)
		}
		out, err := Read(c.program, []byte(c.object))
		if err != nil || !slices.Equal(shown(out), c.want) || len(out.Notes) != len(c.notes) {
			t.Errorf("%s: %q, notes %q, %v", c.name, shown(out), out.Notes, err)
			continue
		}
		for i, note := range c.notes {
			if !strings.Contains(out.Notes[i], note) {
				t.Errorf("%s: note %q, want %q", c.name, out.Notes[i], note)
			}
		}
	}
}

func TestSettings(t *testing.T) {
	out, err := Read(Batched, []byte(batchedRow))
	if err != nil || out.Settings["n_ubatch"] != "512" || out.Settings["flash_attn"] != "-1" || len(out.Settings) != 8 {
		t.Errorf("settings %v, %v", out.Settings, err)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		program Program
		object  string
		want    string
	}{
		{Batched, `{"pp": 1.5, "tg": 1, "pl": 1, "speed_pp": 1, "speed_tg": 1}`, "not numbers of tokens"},
		{Batched, `{"pp": 1, "tg": 1, "pl": 0, "speed_pp": 1, "speed_tg": 1}`, "no sequence was processed"},
		{Batched, `{"pp": -1, "tg": 1, "pl": 1}`, "not numbers of tokens"},
		{Throughput, `{"elapsed_time": "x"}`, "no figure of vllm-throughput"},
		{Latency, `{"latencies": {}}`, "cannot unmarshal"},
		{Startup, `[]`, "cannot unmarshal"},
		{"other", `{}`, `unknown program "other"`},
	} {
		if _, err := Read(c.program, []byte(c.object)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: error %v, want %q", c.program, c.object, err, c.want)
		}
	}
}

// Whatever is read: no panic, and no figure that is not a number.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{batchedRow, throughput, latency, startup, `{"percentiles": {"x": 1}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, object string) {
		for _, r := range readers {
			out, err := Read(r.program, []byte(object))
			if err != nil {
				continue
			}
			for _, m := range out.Measures {
				if m.Value == nil || m.N < 1 || m.Name == "" {
					t.Errorf("%s: %+v", r.program, m)
				}
				if _, err := json.Marshal(m); err != nil {
					t.Errorf("%s: %v", r.program, err)
				}
			}
		}
	})
}

// What stands in a log around the objects is left alone; an object that is cut off
// is not read, and neither is one of another program.
func TestReadRun(t *testing.T) {
	const printed = "Throughput: 5.00 requests/s, 2000.00 total tokens/s, 400.00 output tokens/s\n"
	for _, c := range []struct {
		name, log, file string
		program         Program
		tests           []string // their summaries
		measures        int
		note            string // part of the notes; "": none
	}{
		{
			name: "batches in a log", program: Batched,
			log: "build: 12 (abc)\nllama: {not json\n" + batchedRow + "\n\n0.01 I " + batchedRow + "\n" +
				batchedRow[:90],
			tests: []string{
				"pp128 tg64 B4, prefill 2000 tok/s, pp128 tg64 B4, decode 100 tok/s",
				"pp128 tg64 B4, prefill 2000 tok/s, pp128 tg64 B4, decode 100 tok/s",
			}, measures: 10,
		},
		{
			name: "throughput", program: Throughput, log: "INFO x\n" + printed, file: throughput,
			tests: []string{"input and output 2000 tok/s, requests 5 req/s"}, measures: 4,
		},
		{
			name: "a rate that is not a number", program: Throughput, log: strings.Replace(printed, "400.00", "nan", 1),
			file: throughput, tests: []string{"input and output 2000 tok/s, requests 5 req/s"}, measures: 3,
			note: "output is not a number",
		},
		{name: "what another program wrote", program: Latency, file: throughput},
		{name: "nothing written", program: Throughput, log: printed},
		{
			name: "starts with NaN", program: Startup, file: startup,
			tests:    []string{"cold startup 60 s, cold compilation 20 s"},
			measures: 3, note: "warm compilation is not a number",
		},
		{
			name: "llama-bench", program: results.MethodLlamaBench,
			log:   `{"build_commit":"abc","build_number":1,"model_filename":"/m/a.gguf","n_prompt":64,"n_gen":0,"avg_ts":20.0}`,
			tests: []string{"pp64 of a: 20.00 tokens/s"},
		},
	} {
		run := ReadRun(c.program, []byte(c.log), []byte(c.file))
		var tests []string
		for _, test := range run.Tests {
			tests = append(tests, test.Summary)
		}
		notes := strings.Join(run.Notes, "; ")
		if !slices.Equal(tests, c.tests) || len(run.Measures) != c.measures || c.note == "" && notes != "" ||
			!strings.Contains(notes, c.note) {
			t.Errorf("%s: tests %q, %d measures, notes %q", c.name, tests, len(run.Measures), notes)
		}
	}
}

// Whatever a program prints: no panic.
func FuzzReadRun(f *testing.F) {
	f.Add(batchedRow+"\n{", throughput)
	f.Add("Throughput:  output tokens/s", latency)
	f.Fuzz(func(t *testing.T, log, file string) {
		for _, program := range []Program{results.MethodLlamaBench, Batched, Throughput, Latency, Startup} {
			for _, m := range ReadRun(program, []byte(log), []byte(file)).Measures {
				if m.Value == nil {
					t.Errorf("%s: %+v", program, m)
				}
			}
		}
	})
}
