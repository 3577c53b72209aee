package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/internal/numtest"
	"github.com/benchrig/bench/results"
)

// costly is a step of 100 s with 50,000 output and 150,000 input tokens in 200
// requests.
func costly(servers ...results.Server) *results.Result {
	return &results.Result{Servers: servers, Figures: &results.Figures{
		Completed: 200, DurationS: 100, TotalOutputTokens: new(int64(50_000)), TotalInputTokens: new(int64(150_000)),
	}}
}

func withEnergy(r *results.Result, joules *float64, gpus int) *results.Result {
	r.Telemetry = &results.Telemetry{GPUs: make([]results.GPUFigures, gpus), Sum: &results.GPUFigures{
		Pass: results.GPUWindow{EnergyJ: joules, NoEnergy: "readings are too far apart"},
	}}
	return r
}

func TestCost(t *testing.T) {
	hourly := results.Price{PerGPUHour: new(1.8), Currency: "USD"}
	energy := results.Price{PerKWh: new(0.3), Currency: "USD"}
	both := results.Price{PerGPUHour: new(1.8), PerKWh: new(0.3), Currency: "USD"}
	said := results.Price{PerGPUHour: new(1.8), Currency: "USD", GPUs: new(4)}
	placed := func(replica int, gpus ...int) results.Server { return results.Server{Replica: replica, GPUs: gpus} }
	external := results.Server{Launcher: "external"}
	unknown := costly(placed(0, 0))
	unknown.Figures.TotalOutputTokens = nil
	idle := costly(placed(0, 0))
	idle.Figures.Completed, idle.Figures.TotalOutputTokens = 0, new(int64(0))
	for _, tt := range []struct {
		name   string
		step   *results.Result
		price  results.Price
		total  float64 // -1: null
		output float64
		from   string
		reason string
	}{
		// 8 GPUs x 100 s = 0.2222 GPU-hours = 0.40
		{"hours", costly(placed(0, 0, 1, 2, 3, 4, 5, 6, 7)), hourly, 0.4, 8, results.GPUsOfPlacement, ""},
		{"replicas", costly(placed(0, 0, 1, 2, 3), placed(1, 4, 5, 6, 7)), hourly, 0.4, 8, results.GPUsOfPlacement, ""},
		{
			"two lives on the same GPUs", costly(placed(0, 0, 1), placed(0, 0, 1)), hourly, 0.1, 2,
			results.GPUsOfPlacement, "",
		},
		{"said, two replicas", costly(placed(0), placed(1)), said, 0.4, 8, results.GPUsOfPrice, ""},
		{"said of another machine", costly(external), said, 0.2, 4, results.GPUsOfPrice, ""},
		{"seen", withEnergy(costly(placed(0)), nil, 2), hourly, 0.1, 2, results.GPUsOfTelemetry, ""},
		{
			"another machine", withEnergy(costly(external), nil, 2), hourly, -1, -1, "",
			"how many GPUs were used is not known",
		},
		{"nothing tells", costly(placed(0)), hourly, -1, -1, "", "give price.gpus"},
		// 3.6 MJ = 1 kWh
		{"energy", withEnergy(costly(placed(0, 0)), new(3.6e6), 1), energy, 0.3, 6, "", ""},
		{
			"energy not known", withEnergy(costly(placed(0, 0)), nil, 1), energy, -1, -1, "",
			"the energy is not known: readings are too far apart",
		},
		{"nobody read", costly(placed(0, 0)), energy, -1, -1, "", "no GPU was read"},
		{"both", withEnergy(costly(placed(0, 0)), new(3.6e6), 1), both, 0.35, 7, results.GPUsOfPlacement, ""},
		{
			"both, one not known", withEnergy(costly(placed(0, 0)), nil, 1), both, -1, -1, results.GPUsOfPlacement,
			"too far apart",
		},
		{"tokens not known", unknown, hourly, 0.05, -1, results.GPUsOfPlacement, "output tokens are not known"},
		{"no token", idle, hourly, 0.05, -1, results.GPUsOfPlacement, "none came"},
		{"no pass", &results.Result{}, hourly, -1, -1, "", "no pass was measured"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := CostOf(tt.step, tt.price)
			for _, f := range []struct {
				name string
				got  *float64
				want float64
			}{{"total", c.Total, tt.total}, {"per million output tokens", c.PerMillionOutput, tt.output}} {
				if f.want < 0 {
					if f.got != nil {
						t.Errorf("%s = %v, want null", f.name, *f.got)
					}
					continue
				}
				numtest.Near(t, f.name, f.got, f.want, 1e-12)
			}
			if c.GPUsFrom != tt.from || !strings.Contains(c.Reason, tt.reason) ||
				(tt.reason == "") != (c.Reason == "") {
				t.Errorf("from %q, reason %q; want %q, %q", c.GPUsFrom, c.Reason, tt.from, tt.reason)
			}
		})
	}
	c := CostOf(costly(placed(0, 0, 1, 2, 3, 4, 5, 6, 7)), hourly)
	numtest.Near(t, "per million tokens", c.PerMillionTotal, 2, 1e-12)
	numtest.Near(t, "per request", c.PerRequest, 0.002, 1e-12)
	if c := CostOf(unknown, results.Price{Currency: "USD"}); c != nil {
		t.Errorf("CostOf without a price = %+v, want null", c)
	}
}

// One replica with a quarter of the load on a quarter of the GPUs: a token costs
// what it costs on all of them, had each done the same.
func TestCostOfAnExtrapolatedStep(t *testing.T) {
	price := results.Price{PerGPUHour: new(1.8), Currency: "USD"}
	one := costly(results.Server{GPUs: []int{0, 1}})
	one.Extrapolated = results.Extrapolate(*one.Figures, 4, 2)
	whole := costly(results.Server{GPUs: []int{0, 1, 2, 3, 4, 5, 6, 7}})
	whole.Figures.DurationS = one.Extrapolated.DurationS
	numtest.Near(t, "cost", CostOf(one, price).PerMillionOutput, *CostOf(whole, price).PerMillionOutput, 1e-12)
}

// Costs are compared where they are asked for, lower being better.
func TestCostFigures(t *testing.T) {
	compared := slices.DeleteFunc(All(Cost), func(f Figure) bool { return !f.Compared })
	if len(compared) != 3 {
		t.Errorf("%d figures of the cost are compared, want 3", len(compared))
	}
	for _, f := range compared {
		r := costly(results.Server{GPUs: []int{0}})
		if f.Of(r) != nil {
			t.Errorf("%s of a step without a price is known", f.Name)
		}
		r.Cost = CostOf(r, results.Price{PerGPUHour: new(1.0), Currency: "USD"})
		if v := f.Of(r); v == nil || *v <= 0 || f.Higher || !f.Extra {
			t.Errorf("%s = %v, higher %v, extra %v", f.Name, v, f.Higher, f.Extra)
		}
	}
}
