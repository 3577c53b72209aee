package detail

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
)

// printCost prints what a step cost.
func printCost(p *table.Printer, c *results.Cost) {
	if c == nil {
		return
	}

	p.Section("Cost")
	price := versus.PriceWords(c.Price)
	if c.Reason != "" && c.Total == nil {
		p.Wrapped("  ", fmt.Sprintf("at %s: not known: %s", price, text.Clean(c.Reason)))
		return
	}

	var parts []string
	if c.GPUHours != nil {
		parts = append(parts, fmt.Sprintf("%s for %s GPU-hours (known from %s)", text.Count(*c.GPUs, "GPU"),
			exactly(c.GPUHours), text.Clean(c.GPUsFrom)))
	}

	if c.EnergyKWh != nil {
		parts = append(parts, fmt.Sprintf("%s kWh used by the GPUs, including idle power, without the host",
			exactly(c.EnergyKWh)))
	}

	p.Wrapped("  ", fmt.Sprintf("%s at %s: %s %s", strings.Join(parts, "; "), price, exactly(c.Total),
		text.Clean(c.Price.Currency)))
	p.Wrapped("  ", fmt.Sprintf("%s per million output tokens, %s per million tokens, %s per request",
		exactly(c.PerMillionOutput), exactly(c.PerMillionTotal), exactly(c.PerRequest)))
}

// exactly shows four digits that count.
func exactly(v *float64) string {
	if v == nil {
		return table.Missing
	}
	return strconv.FormatFloat(*v, 'g', 4, 64)
}
