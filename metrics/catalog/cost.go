package catalog

import (
	"slices"
	"strings"

	"github.com/benchrig/bench/metrics/telemetry"
	"github.com/benchrig/bench/results"
)

const (
	secondsPerHour = 3600
	joulesPerKWh   = 3.6e6
	million        = 1e6
)

// CostOf is what the measured pass of a step cost; null where there is no
// price. docs/metrics.md has the formula.
//
// Where one replica stands for several, its GPUs and its time are those of its
// share of the tokens: a token costs the same.
func CostOf(r *results.Result, price results.Price) *results.Cost {
	if !price.Known() {
		return nil
	}

	c := &results.Cost{Price: price}
	switch {
	case r.Figures != nil:
	case len(r.LlamaBench) == 0:
		c.Reason = "no pass was measured"
		return c
	default:
		c.Reason = testGPUs(c, r)
		return c
	}

	var missing []string
	if price.PerGPUHour != nil {
		missing = append(missing, chargeHours(c, r))
	}
	if price.PerKWh != nil {
		missing = append(missing, chargeEnergy(c, r))
	}

	missing = slices.DeleteFunc(missing, func(why string) bool { return why == "" })
	if c.Reason = strings.Join(missing, "; "); c.Reason != "" {
		c.Total = nil
		return c
	}

	w := telemetry.WorkOf(r.Figures)
	c.PerMillionOutput, c.PerMillionTotal, c.PerRequest = costPer(c.Total, w.Output, million), costPer(c.Total, w.Total,
		million), costPer(c.Total, w.Requests, 1)
	if c.PerMillionOutput == nil {
		c.Reason = "output tokens are not known, or none came"
	}

	return c
}

// testGPUs counts the GPUs of llama-bench, whose tests have costs of their own.
func testGPUs(c *results.Cost, r *results.Result) (missing string) {
	if c.Price.PerGPUHour == nil {
		return "the energy of a single test of llama-bench is not known"
	}
	if c.GPUs, c.GPUsFrom = paidGPUs(r, c.Price); c.GPUs == nil {
		return noGPUCount
	}
	return ""
}

// CostOfTest is what a million tokens of a test of llama-bench cost at its
// speed; null where energy has a price, which is not known of a single test.
func CostOfTest(c *results.Cost, tokensPerS float64) *float64 {
	if c == nil || c.GPUs == nil || c.Price.PerGPUHour == nil || c.Price.PerKWh != nil || tokensPerS <= 0 {
		return nil
	}
	return new(float64(*c.GPUs) * *c.Price.PerGPUHour / secondsPerHour / tokensPerS * million)
}

const noGPUCount = "how many GPUs were used is not known: give price.gpus"

// chargeHours adds the price of the GPUs for the time of the pass; or says why
// that is not known.
func chargeHours(c *results.Cost, r *results.Result) (missing string) {
	if c.GPUs, c.GPUsFrom = paidGPUs(r, c.Price); c.GPUs == nil {
		return noGPUCount
	}
	c.GPUHours = new(float64(*c.GPUs) * r.Figures.DurationS / secondsPerHour)
	addTo(&c.Total, *c.GPUHours**c.Price.PerGPUHour)
	return ""
}

// chargeEnergy adds the price of the measured energy.
func chargeEnergy(c *results.Cost, r *results.Result) (missing string) {
	if r.Telemetry == nil || r.Telemetry.Sum == nil {
		return "the energy is not known: no GPU was read"
	}
	joules := r.Telemetry.Sum.Pass.EnergyJ
	if joules == nil {
		return "the energy is not known: " + r.Telemetry.Sum.Pass.NoEnergy
	}
	c.EnergyKWh = new(*joules / joulesPerKWh)
	addTo(&c.Total, *c.EnergyKWh**c.Price.PerKWh)
	return ""
}

func addTo(total **float64, amount float64) {
	if *total != nil {
		amount += **total
	}
	*total = &amount
}

func costPer(total, amount *float64, unit float64) *float64 {
	if total == nil || amount == nil || *amount <= 0 {
		return nil
	}
	return new(*total / *amount * unit)
}

// paidGPUs is how many GPUs the servers of a step took, and how that is known;
// null where it is not known. What other machines have, the price must say.
func paidGPUs(r *results.Result, price results.Price) (n *int, from string) {
	var replicas []int
	placed := map[gpuOfNode]bool{}
	elsewhere := false
	for _, s := range r.Servers {
		replicas = append(replicas, s.Replica)
		for _, index := range s.GPUs {
			placed[gpuOfNode{s.Node, index}] = true
		}
		elsewhere = elsewhere || s.AlreadyRunning()
	}

	switch {
	case price.GPUs != nil:
		return new(*price.GPUs * max(1, distinct(replicas))), results.GPUsOfPrice
	case len(placed) > 0:
		return new(len(placed)), results.GPUsOfPlacement
	case r.Telemetry != nil && len(r.Telemetry.GPUs) > 0 && !elsewhere:
		return new(len(r.Telemetry.GPUs)), results.GPUsOfTelemetry
	}

	return nil, ""
}

// gpuOfNode is a GPU by its node, "" for that of bench, and its index there.
type gpuOfNode struct {
	node  string
	index int
}

func distinct(numbers []int) int {
	numbers = slices.Clone(numbers)
	slices.Sort(numbers)
	return len(slices.Compact(numbers))
}

// inCurrency puts the currency into the titles of costs, where steps have one.
func inCurrency(figures []Figure, steps []*results.Result) []Figure {
	at := slices.IndexFunc(steps, func(r *results.Result) bool { return r.Cost != nil })
	if at < 0 {
		return figures
	}
	for i := range figures {
		if f := &figures[i]; f.Group == Cost {
			f.Unit = steps[at].Cost.Price.Currency
			f.Title += " " + f.Unit
		}
	}
	return figures
}
