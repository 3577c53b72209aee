package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/detail"
	"github.com/benchrig/bench/report/differences"
	"github.com/benchrig/bench/report/export"
	"github.com/benchrig/bench/report/studies"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// pricedRun is two variants with three repeats each, on 8 and on 4 GPUs.
func pricedRun(currency string, perHour float64) *results.Run {
	var steps []results.Step
	for repeat := range 3 {
		for variant, gpus := range map[string][]int{"tp8": {0, 1, 2, 3, 4, 5, 6, 7}, "tp4": {0, 1, 2, 3}} {
			s := step(variant, 8, repeat+1, 4+0.1*float64(repeat))
			s.Result.Servers = []results.Server{{Life: s.Result.Step.ID, Launcher: "vllm", GPUs: gpus}}
			steps = append(steps, s)
		}
	}
	slices.SortFunc(steps, func(a, b results.Step) int { return strings.Compare(a.Result.Step.ID, b.Result.Step.ID) })
	run := runOf(steps...)
	price := results.Price{PerGPUHour: &perHour, Currency: currency}
	run.Manifest.Price = &price
	for _, s := range run.Steps {
		s.Result.Cost = catalog.CostOf(s.Result, price)
	}
	return run
}

func TestCostGoldens(t *testing.T) {
	run := pricedRun("USD", 1.99)
	golden(t, "cost.txt", print(t, func(out *bytes.Buffer) error { return Write(out, run, table.Options{}) }))
	golden(t, "cost-80.txt", print(t,
		func(out *bytes.Buffer) error { return Write(out, run, table.Options{Width: 80}) }))
	golden(t, "cost.md", print(t, func(out *bytes.Buffer) error { return Markdown(out, run) }))
	text := printed(t, func(out *bytes.Buffer) error { return detail.Step(out, run, run.Steps[0].Result.Step.ID) })
	if !strings.Contains(text, "per million output tokens") || !strings.Contains(text, "4 GPUs for") {
		t.Errorf("the step's report has no cost:\n%s", text)
	}
	csv := printed(t, func(out *bytes.Buffer) error { return export.CSV(out, run) })
	if head, _, _ := strings.Cut(csv, "\n"); !strings.Contains(head,
		"cost_currency,price_per_gpu_hour,price_per_kwh,cost_gpus,gpu_hours,energy_kwh,cost_total,cost_per_million_output_tokens,") {
		t.Errorf("head of summary.csv = %s", head)
	}
}

func printed(t *testing.T, write func(*bytes.Buffer) error) string {
	t.Helper()
	return string(print(t, write))
}

// Without a price no word of costs stands anywhere.
func TestNoPriceNoCost(t *testing.T) {
	run := runOf(step("tp8", 8, 1, 4), step("tp4", 8, 1, 4))
	for name, text := range map[string]string{
		"terminal": printed(t, func(out *bytes.Buffer) error { return Write(out, run, table.Options{}) }),
		"markdown": printed(t, func(out *bytes.Buffer) error { return Markdown(out, run) }),
		"csv":      printed(t, func(out *bytes.Buffer) error { return export.CSV(out, run) }),
	} {
		if strings.Contains(strings.ToLower(text), "cost") {
			t.Errorf("%s speaks of costs:\n%s", name, text)
		}
	}
}

func TestParsePrices(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"gpu-hour", "want KEY=VALUE"},
		{"gpu-hour=0", "want a number above 0"},
		{"kwh=NaN", "want a number above 0"},
		{"kwh=-1", "want a number above 0"},
		{"gpus=0", "want a whole number from 1 to 1024"},
		{"currency=dollar", "want three capital letters"},
		{"hour=3", `there is no "hour"`},
	} {
		if _, err := versus.ParsePrices([]string{tt.text}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("ParsePrices(%q) = %v, want %q", tt.text, err, tt.want)
		}
	}
	got, err := versus.ParsePrices([]string{"gpu-hour=2.5,currency=EUR", "v1.5.gpu-hour=3", "v1.5.gpus=2"})
	if err != nil || *got[""].PerGPUHour != 2.5 || got[""].Currency != "EUR" || *got["v1.5"].PerGPUHour != 3 ||
		*got["v1.5"].GPUs != 2 {
		t.Errorf("ParsePrices = %+v, %v", got, err)
	}
}

func TestPricesAtReportTime(t *testing.T) {
	for _, tt := range []struct {
		name     string
		prices   []string
		tp8, tp4 float64 // per GPU-hour
		currency string
	}{
		{"as it was", nil, 2, 2, "USD"},
		{"another", []string{"gpu-hour=4"}, 4, 4, "USD"},
		{"one variant", []string{"tp4.gpu-hour=1"}, 2, 1, "USD"},
		{"another currency", []string{"gpu-hour=3,currency=EUR"}, 3, 3, "EUR"},
	} {
		run := pricedRun("USD", 2)
		prices, err := versus.ParsePrices(tt.prices)
		if err != nil {
			t.Fatal(err)
		}
		if err := prices.Apply(run); err != nil {
			t.Fatal(err)
		}
		for _, s := range run.Steps {
			want := map[string]float64{"tp8": tt.tp8, "tp4": tt.tp4}[s.Result.Step.Variant]
			if c := s.Result.Cost; *c.Price.PerGPUHour != want || c.Price.Currency != tt.currency ||
				c.PerMillionOutput == nil {
				t.Errorf("%s: price of %s = %+v, want %v %s", tt.name, s.Result.Step.Variant, c.Price, want,
					tt.currency)
			}
		}
	}
	if err := (versus.Prices{"tp16": {}}).Apply(pricedRun("USD", 2)); err == nil {
		t.Error("a price of a variant that the run does not have is taken")
	}
	// A currency alone does not turn dollars into euros.
	run := pricedRun("USD", 2)
	if err := (versus.Prices{"": {Currency: "EUR"}}).Apply(run); err != nil || run.Steps[0].Result.Cost != nil {
		t.Errorf("dollars became euros: %+v, %v", run.Steps[0].Result.Cost, err)
	}
}

func TestCompareCosts(t *testing.T) {
	figures := versus.CompareOptions{Figures: []string{"cost_per_million_output_tokens"}}
	compared := func(b *results.Run) string {
		c, err := versus.Compare([]versus.Side{
			{Name: "a", Path: "a", Run: pricedRun("USD", 2)},
			{Name: "b", Path: "b", Run: b},
		}, figures)
		if err != nil {
			t.Fatal(err)
		}
		return printed(t, func(out *bytes.Buffer) error {
			return differences.WriteComparison(out, c, table.ForTerminal, nil, table.Options{})
		})
	}
	if text := compared(pricedRun("USD", 3)); !strings.Contains(text, "+50.00 %") || !strings.Contains(text, "worse") ||
		!strings.Contains(text, "prices differ: 3 USD a GPU-hour against 2 USD a GPU-hour") {
		t.Errorf("half as dear again:\n%s", text)
	}
	if text := compared(pricedRun("EUR", 3)); strings.Contains(text, "+50.00 %") ||
		!strings.Contains(text, "different currencies") {
		t.Errorf("dollars and euros are compared:\n%s", text)
	}
	free := pricedRun("USD", 2)
	for _, s := range free.Steps {
		s.Result.Cost = nil
	}
	if text := compared(free); !strings.Contains(text, "a side has no price") {
		t.Errorf("without a price:\n%s", text)
	}
}

// fa 0 is not set beside fa 1, and each has a gain of its own.
func TestGainOfSweptSettings(t *testing.T) {
	var steps []results.Step
	for i, variant := range []string{"off", "on"} {
		s := step(variant, 1, 1, 1)
		s.Result.Servers = []results.Server{{Life: variant, Launcher: "llama-bench", Argv: []string{"llama-bench"}}}
		s.Result.Figures, s.Result.Asked = nil, results.Asked{}
		plain, flash := benchRows("llama 7B", 1<<30, 800+float64(80*i), 40),
			benchRows("llama 7B", 1<<30, 900+float64(9*i), 44)
		for k := range plain {
			plain[k].FlashAttn = "0"
		}
		s.Result.LlamaBench = append(plain, flash...)
		if i == 1 {
			s.Result.Servers[0].Env = map[string]string{"ROCBLAS_USE_HIPBLASLT": "1"}
		}
		steps = append(steps, s)
	}
	run := runOf(steps...)
	run.Manifest.Method = results.MethodLlamaBench
	var rows []string
	for _, p := range studies.LlamaBenchParts(run) {
		if strings.HasPrefix(p.Title, "ROCBLAS_USE_HIPBLASLT") {
			for _, r := range p.Table.Rows {
				rows = append(rows, r.Cells[1].Text+" "+r.Cells[4].Text)
			}
		}
	}
	if want := []string{
		"pp512 (fa 0) +10.00 %", "tg128 (fa 0) +0.00 %", "pp512 (fa 1) +1.00 %",
		"tg128 (fa 1) +0.00 %",
	}; !slices.Equal(rows, want) {
		t.Errorf("gains = %q, want %q", rows, want)
	}
}
