package suite

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

func mustPlan(t *testing.T, w Wish) []Round {
	t.Helper()
	rounds, err := Plan(w)
	if err != nil {
		t.Fatal(err)
	}
	return rounds
}

// The files of a server of 16384 tokens.
func TestFileNames(t *testing.T) {
	for _, c := range []struct {
		profiles []string
		want     string
	}{
		{Text(), "m_14336-2048_1 m_14336-2048_5 m_14336-2048_10 m_200-250_32 m_200-250_64 m_200-250_128 " +
			"m_100-150_1 m_100-150_4 m_100-150_8 m_100-150_16 m_100-150_32"},
		{
			Vision(),
			"m_50-300_8 m_50-300_16 m_50-300_32 m_50-300_64 m_50-300_128 m_100-100_1 m_100-100_8 m_100-100_16 " +
				"m_100-100_32",
		},
	} {
		var names []string
		seeds := map[uint64]bool{}
		for _, r := range mustPlan(t, Wish{
			Profiles: c.profiles, MaxModelLen: 16384,
			Image: scenarios.ImageSize{Width: 512, Height: 512},
		}) {
			if r.Problem != "" || r.Load.MaxConcurrency != 0 || !r.Load.IgnoreEOS ||
				*r.Load.Sampling.Temperature != 0 || r.Load.Warmups == 0 {
				t.Errorf("%s: %+v, want all at once, to their full length, at temperature 0, after a warm-up",
					r.Profile, r)
			}
			seeds[r.Seed] = true
			names = append(names, strings.TrimSuffix(r.FileName("m"), ".json"))
		}
		if got := strings.Join(names, " "); got != c.want || len(seeds) != len(names) {
			t.Errorf("%v: files %s, %d seeds, want %s and a seed for each", c.profiles, got, len(seeds), c.want)
		}
	}
	round := Round{Load: scenarios.Load{InputLen: 5, OutputLen: 6, NumPrompts: 7}}
	for model, want := range map[string]string{
		"org/Model 7B": "org_Model_7B_5-6_7.json", `C:\m.gguf`: "C__m.gguf_5-6_7.json", "..": "model_5-6_7.json",
		"":            "model_5-6_7.json",
		"../../etc/x": ".._.._etc_x_5-6_7.json", "a\nb": "a_b_5-6_7.json", "模型": "模型_5-6_7.json",
	} {
		if got := round.FileName(model); got != want {
			t.Errorf("FileName(%q) = %s, want %s", model, got, want)
		}
	}
	round.Load.InputLen = 0
	if got := round.FileName("m"); got != "m_unknown-6_7.json" {
		t.Errorf("FileName without an input length = %s", got)
	}
}

func TestRoundsThatDoNotFit(t *testing.T) {
	for _, c := range []struct {
		maxModelLen int
		problem     map[string]string // by profile; "": none
	}{
		{0, map[string]string{"high": "does not say its max-model-len"}},
		{2048, map[string]string{"high": "the server's max-model-len is 2048"}},
		{2049, map[string]string{}},
		{400, map[string]string{
			"high": "max-model-len is 400",
			"mid":  "needs 450 tokens a request, and the server's max-model-len is 400",
		}},
	} {
		for _, r := range mustPlan(t, Wish{Profiles: Text(), MaxModelLen: c.maxModelLen}) {
			if want := c.problem[r.Profile]; !strings.Contains(r.Problem, want) || want == "" && r.Problem != "" {
				t.Errorf("max-model-len %d, %s: problem %q, want %q", c.maxModelLen, r.Profile, r.Problem, want)
			}
		}
	}
	for _, profiles := range [][]string{{"chat-short"}, {"low", "low"}, {"lwo"}} {
		if rounds, err := Plan(Wish{Profiles: profiles}); err == nil {
			t.Errorf("Plan(%v) = %v, want an error", profiles, rounds)
		}
	}
	r := mustPlan(t, Wish{Profiles: []string{"vision-a"}, Image: scenarios.ImageSize{Width: 10, Height: 20}})[0]
	if got := r.Load.Dataset.Images; len(got.Sizes) != 1 || got.Sizes[0].Height != 20 || got.Format != "jpeg" ||
		got.Quality != 75 {
		t.Errorf("images = %+v, want 10x20, jpeg of quality 75", got)
	}
}

func TestEngineParams(t *testing.T) {
	for _, c := range []struct {
		argv []string
		want []string
	}{
		{
			[]string{
				"python", "-m", "vllm.entrypoints.openai.api_server", "--model", "a/b", "--enforce-eager",
				"--max-model-len=16k", "--temp", "-0.5",
			},
			[]string{
				"-m vllm.entrypoints.openai.api_server", "--model a/b", "--enforce-eager", "--max-model-len=16k",
				"--temp -0.5",
			},
		},
		{[]string{"/usr/bin/vllm", "serve", "a/b", "--api-key", "***", "***"}, []string{"--api-key *** ***"}},
		{[]string{"llama-server"}, nil},
		{nil, nil},
	} {
		if got := Params(c.argv); !slices.Equal(got, c.want) {
			t.Errorf("Params(%q) = %q, want %q", c.argv, got, c.want)
		}
	}
	if got := string(EngineParams([]string{"--a b", "--c x\ny"}, "")); got != "engine params:\n--a b\n--c x\\ny\n" {
		t.Errorf("EngineParams = %q", got)
	}
	if got := string(EngineParams(ServerParams(nil, "/x"),
		"it is not on\nthis machine")); got != "engine params:\nunknown: it is not on; this machine\n" {
		t.Errorf("EngineParams of nothing = %q", got)
	}
	if got := ServerParams(map[string]string{"b": "2", "a": "1"}, "/props"); !slices.Equal(got[1:],
		[]string{"a 1", "b 2"}) || !strings.Contains(got[0], "/props") {
		t.Errorf("Told = %q", got)
	}
}

func TestMaxModelLenOf(t *testing.T) {
	for value, want := range map[string]int{
		"16384": 16384, "16k": 16000, "16K": 16384, "1.5k": 1500, "1.5K": 0, "2M": 2 << 20, "auto": 0, "-1": 0, "": 0,
		"99999999999": 0, "1.5": 0,
	} {
		for _, argv := range [][]string{{"vllm", "--max-model-len", value}, {
			"vllm", "--max_model_len=" + value,
			"--port", "5",
		}} {
			if got := MaxModelLenOf(argv); got != want {
				t.Errorf("MaxModelLenOf(%q) = %d, want %d", argv, got, want)
			}
		}
	}
	for _, argv := range [][]string{nil, {"vllm", "--max-model-len"}, {"vllm", "serve", "m"}} {
		if got := MaxModelLenOf(argv); got != 0 {
			t.Errorf("MaxModelLenOf(%q) = %d, want 0", argv, got)
		}
	}
}

func TestMemoryUsage(t *testing.T) {
	gpus := func(used int64) []Memory {
		return []Memory{
			{"AMD Instinct MI300X", new(used << 20), new(int64(196592 << 20))},
			{"AMD Instinct MI300X", nil, nil},
		}
	}
	const want = "GPU Name: AMD Instinct MI300X\nWarm up status:\n100MiB 196592MiB\nN/A N/A\n" +
		"After Benchmark status:\n200MiB 196592MiB\nN/A N/A\n"
	if got := string(MemoryUsage(gpus(100), gpus(200))); got != want {
		t.Errorf("MemoryUsage = %q, want %q", got, want)
	}
}

func TestJSON(t *testing.T) {
	r := Row{Round: Round{Profile: "high", Load: scenarios.Load{InputLen: 14336, OutputLen: 2048, NumPrompts: 1}}}
	const vllm = `{"date": "20250102-030405", "num_prompts": 1, "request_rate": "inf", "duration": 87.72, "completed": 1, "total_input_tokens": 14336, "total_output_tokens": 2048, ` +
		`"request_throughput": 0.0114, "output_throughput": 23.347, "total_token_throughput": 186.776, "mean_ttft_ms": 151.31, "mean_tpot_ms": 42.78, "mean_itl_ms": 42.79}`
	text, err := r.JSON([]byte(vllm))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"input_length": 14336., "output_length": 2048., "num_prompts": 1., "successful_requests": 1.,
		"total_input_tokens": 14336., "total_generated_tokens": 2048.,
		"request_throughput": 0.0114, "output_token_throughput": 23.347, "total_token_throughput": 186.776,
		"time_to_first_token": 151.31, "time_per_output_token": 42.78, "inter_token_latency": 42.79,
		"date": "20250102-030405", "completed": 1., "mean_ttft_ms": 151.31, "profile": "high",
	} {
		if got[name] != want {
			t.Errorf("%s = %v, want %v", name, got[name], want)
		}
		if n := strings.Count(string(text), fmt.Sprintf("%q:", name)); n != 1 {
			t.Errorf("%s stands %d times in %s", name, n, text)
		}
	}
	if _, there := got["estimated_image_tokens"]; there {
		t.Error("a text round has image tokens")
	}
	if _, there := got["power_mean_w"]; there {
		t.Error("a round without GPUs has their power")
	}
	r.Images = &Images{Size: "5x5", Tokens: 7, Requests: 1}
	text, err = r.JSON([]byte(vllm))
	if err != nil || !strings.Contains(string(text), `"image_size": "5x5", "estimated_image_tokens": 7,`) {
		t.Errorf("with images: %s, %v", text, err)
	}
	for _, broken := range []string{"", "[]", "{}", `{"num_prompts": "x"}`} {
		if text, err := r.JSON([]byte(broken)); err == nil {
			t.Errorf("JSON of %q = %s, want an error", broken, text)
		}
	}
}

// What the GPUs did in a round is in its row and in its file; what one of
// them does not tell is null, never 0.
func TestGPUsOfARound(t *testing.T) {
	const vllm = `{"num_prompts": 1, "completed": 1}`
	sum := func(power *float64) *results.Result {
		gpu := results.GPUFigures{VRAMPeak: new(int64(20 << 30)), Pass: results.GPUWindow{PowerMeanW: power}}
		efficiency := &results.Efficiency{}
		if power != nil {
			efficiency.JPerOutputToken = new(0.25)
		}
		return &results.Result{
			Verdict:   results.OK,
			Figures:   &results.Figures{Asked: 1, Completed: 1, DurationS: 1},
			Telemetry: &results.Telemetry{GPUs: []results.GPUFigures{gpu}, Sum: &gpu, Efficiency: efficiency},
		}
	}
	for _, tt := range []struct {
		name             string
		power            *float64
		cells, inTheFile string
	}{
		{
			"all", new(625.4), "20.00      625      0.250",
			`"vram_peak_bytes": 21474836480, "power_mean_w": 625.4, "j_per_output_token": 0.25, `,
		},
		{
			"no power", nil, "20.00        -          -",
			`"vram_peak_bytes": 21474836480, "power_mean_w": null, "j_per_output_token": null, `,
		},
	} {
		row := Row{Round: Round{Profile: "low"}, Result: sum(tt.power)}
		text, err := row.JSON([]byte(vllm))
		if err != nil || !strings.Contains(string(text), tt.inTheFile) {
			t.Errorf("%s: file %s, %v; want %s", tt.name, text, err, tt.inTheFile)
		}
		var out strings.Builder
		if err := Table(&out, []Row{row, {Round: Round{Profile: "mid"}, Problem: "refused"}}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "VRAM GiB  power W  J/out tok") ||
			!strings.Contains(out.String(), tt.cells) {
			t.Errorf("%s: table lacks %q:\n%s", tt.name, tt.cells, out.String())
		}
	}
}

func TestEstimateImages(t *testing.T) {
	rec := func(server, local *int) results.Record {
		return results.Record{InputTokens: server, LocalInputTokens: local}
	}
	failed := results.Record{Failure: results.Failf(results.FailHTTP, "no")}
	for _, c := range []struct {
		name     string
		records  []results.Record
		overhead Overhead
		want     string
	}{
		{
			"text counted here",
			[]results.Record{rec(new(420), new(50)), rec(new(418), new(48)), failed},
			Overhead{60, new(50)},
			"{512x512 720 98 20 2} 360",
		},
		{
			"nothing counts here",
			[]results.Record{rec(new(420), nil), rec(new(418), nil)},
			Overhead{60, nil},
			"{512x512 718 120 0 2} 359",
		},
		{"no template", []results.Record{rec(new(410), new(50))}, Overhead{49, new(50)}, "{512x512 360 50 0 1} 360"},
		{"the server does not count", []results.Record{rec(nil, new(50))}, Overhead{60, new(50)}, "<nil>"},
		{"all failed", []results.Record{failed}, Overhead{60, new(50)}, "<nil>"},
	} {
		got := "<nil>"
		if i := EstimateImages("512x512", c.records, c.overhead); i != nil {
			got = fmt.Sprint(*i, i.PerPrompt())
		}
		if got != c.want {
			t.Errorf("%s: EstimateImages = %s, want %s", c.name, got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	rounds := mustPlan(t, Wish{Profiles: []string{"high", "low"}, MaxModelLen: 16384})
	mean := func(v float64) results.Dist { return results.Dist{N: 1, Mean: &v} }
	ok := &results.Result{Simulated: true, Verdict: results.OK, Figures: &results.Figures{
		Asked: 1, Completed: 1, DurationS: 87.72, RequestThroughput: new(0.0114), OutputThroughput: new(23.347),
		TotalTokenThroughput: new(186.776),
		TTFT:                 mean(0.15131), TPOT: mean(0.04278), ITL: mean(0.04278),
	}}
	bad := &results.Result{Verdict: results.Failed, Figures: &results.Figures{Asked: 5, Failed: 5, DurationS: 1}}
	rows := []Row{
		{Round: rounds[0], Result: ok},
		{Round: rounds[1], Result: bad, Problem: "requests: all 5 failed"},
		{Round: rounds[3], Problem: "interrupted"},
	}
	var out strings.Builder
	if err := Table(&out, rows); err != nil {
		t.Fatal(err)
	}
	const want = Simulated + `

profile     in   out  n   ok  time s  req/s  out tok/s  all tok/s  TTFT ms  TPOT ms  ITL ms  result
──────────────────────────────────────────────────────────────────────────────────────────────────────
high     14336  2048  1  1/1   87.72   0.01      23.35     186.78   151.31    42.78   42.78  ok
high     14336  2048  5  0/5    1.00      -          -          -        -        -       -  failed
low        100   150  1    -       -      -          -          -        -        -       -  not run
high, 5 at once: requests: all 5 failed
low, 1 at once: interrupted
`
	if out.String() != want {
		t.Errorf("Table =\n%s\nwant\n%s", out.String(), want)
	}
	out.Reset()
	vision := mustPlan(t, Wish{Profiles: []string{"vision-b"}})[0]
	if err := Table(&out, []Row{{Round: vision, Result: ok, Images: &Images{Tokens: 363, Requests: 1}}}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "img tok/req  result\n") || !strings.Contains(out.String(), "~363  ok") ||
		!strings.Contains(out.String(), "an estimate") {
		t.Errorf("Table of vision =\n%s", out.String())
	}
}

func FuzzParams(f *testing.F) {
	f.Add("vllm\x00serve\x00--max-model-len\x0016k\x00-0.5")
	f.Add("x\x00--\x00-\x00--a=b")
	f.Fuzz(func(t *testing.T, cmdline string) {
		argv := strings.Split(cmdline, "\x00")
		for _, line := range Params(argv) {
			if !strings.HasPrefix(line, "-") {
				t.Errorf("Params(%q) has line %q without a flag", argv, line)
			}
		}
		if n := MaxModelLenOf(argv); n < 0 || n > 1<<30 {
			t.Errorf("MaxModelLenOf(%q) = %d", argv, n)
		}
		text := string(EngineParams(Params(argv), "why"))
		if !strings.HasPrefix(text, "engine params:\n") || strings.Count(text, "\n") < 2 {
			t.Errorf("EngineParams = %q", text)
		}
	})
}
