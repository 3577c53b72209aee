package plan

import (
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// PriceOf is the price of a variant's hardware as results have it.
func PriceOf(sc *scenarios.Scenario, v scenarios.Variant) results.Price {
	p := sc.PriceOf(v)
	price := results.Price{PerGPUHour: given(p.GPUHour), PerKWh: given(p.KWh), Currency: p.Currency}
	if p.GPUs == 0 {
		p.GPUs = originalGPUs(v)
	}
	if p.GPUs > 0 && price.Known() {
		price.GPUs = &p.GPUs
	}
	return price
}

// originalGPUs is how many GPUs one server takes in whose place the simulator
// stands; 0: it is not known.
func originalGPUs(v scenarios.Variant) int {
	if v.Original == nil {
		return 0
	}
	kind, known := engines.Lookup(v.Original.Launcher)
	switch gpus := v.Original.GPUs; {
	case gpus.Count > 0:
		return gpus.Count
	case known && kind.Args.WorldSize != nil && kind.Args.WorldSize(Args(v.Original.Args)) > 0:
		return kind.Args.WorldSize(Args(v.Original.Args))
	case gpus.List != nil:
		return len(gpus.List) / max(1, v.Original.Replicas)
	}
	return 0
}

// given is null for what was not given.
func given(v float64) *float64 {
	if v == 0 {
		return nil
	}
	return &v
}

// Prices are those of a scenario for its manifest: that of the whole, and those
// of variants that have their own.
func Prices(sc *scenarios.Scenario) (price *results.Price, own map[string]results.Price) {
	if p := PriceOf(sc, scenarios.Variant{}); p.Known() {
		price = &p
	}
	for _, v := range sc.Variants {
		if p := PriceOf(sc, v); p.Known() && (v.Price != scenarios.Price{} || p.GPUs != nil) {
			if own == nil {
				own = map[string]results.Price{}
			}
			own[v.Name] = p
		}
	}
	return price, own
}
