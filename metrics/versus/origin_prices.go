package versus

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/metrics/catalog"
	"github.com/benchrig/bench/metrics/compare"
	"github.com/benchrig/bench/results"
)

// Prices are prices given at report time, by variant; those under "" hold for
// all.
type Prices map[string]results.Price

var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

// ParsePrices reads prices of the form KEY=VALUE or VARIANT.KEY=VALUE, with the
// keys gpu-hour, kwh, currency and gpus. Several may be joined by commas.
func ParsePrices(texts []string) (Prices, error) {
	prices := Prices{}
	for _, text := range texts {
		for one := range strings.SplitSeq(text, ",") {
			name, value, ok := strings.Cut(strings.TrimSpace(one), "=")
			if !ok {
				return nil, fmt.Errorf("price %q: want KEY=VALUE, as in gpu-hour=2.5", one)
			}
			variant, key := "", name
			if at := strings.LastIndexByte(name, '.'); at >= 0 {
				variant, key = name[:at], name[at+1:]
			}
			p := prices[variant]
			if err := setPrice(&p, key, value); err != nil {
				return nil, fmt.Errorf("price %q: %w", one, err)
			}
			prices[variant] = p
		}
	}

	return prices, nil
}

func setPrice(p *results.Price, key, value string) error {
	amount, notNumber := strconv.ParseFloat(value, 64)
	switch key {
	case "gpu-hour", "kwh":
		if notNumber != nil || !(amount > 0) || amount > 1e9 {
			return fmt.Errorf("%s is %q, want a number above 0", key, value)
		}
		if key == "kwh" {
			p.PerKWh = &amount
		} else {
			p.PerGPUHour = &amount
		}
	case "currency":
		if !currencyCode.MatchString(value) {
			return fmt.Errorf("currency is %q, want three capital letters such as USD", value)
		}
		p.Currency = value
	case "gpus":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > 1024 {
			return fmt.Errorf("gpus is %q, want a whole number from 1 to 1024", value)
		}
		p.GPUs = &n
	default:
		return fmt.Errorf("there is no %q; want gpu-hour, kwh, currency or gpus", key)
	}

	return nil
}

// Apply computes the costs of a run again, with prices laid over those that it
// was measured with. Of another currency nothing is taken over but the number
// of GPUs.
func (p Prices) Apply(run *results.Run) error {
	for variant := range p {
		if names := VariantsOf(run); variant != "" && !slices.Contains(names, variant) {
			return fmt.Errorf("price of %q: the run has no such variant; it has %s", variant, text.Few(names))
		}
	}

	if len(p) == 0 {
		return nil
	}

	for _, s := range run.Steps {
		was := run.Manifest.PriceOf(s.Result.Step.Variant)
		if s.Result.Cost != nil {
			was = s.Result.Cost.Price
		}
		given := p[s.Result.Step.Variant].Over(p[""])
		if given.Currency != "" && was.Currency != "" && given.Currency != was.Currency {
			was = results.Price{GPUs: was.GPUs}
		}
		price := given.Over(was)
		if price.Currency == "" {
			price.Currency = "USD"
		}
		s.Result.Cost = catalog.CostOf(s.Result, price)
	}

	return nil
}

// CurrencyOf is that of the first cost of a cell; "": none has one.
func CurrencyOf(cells ...compare.Cell) string {
	for _, c := range cells {
		for _, r := range c.Steps {
			if r.Cost != nil {
				return text.Clean(r.Cost.Price.Currency)
			}
		}
	}
	return ""
}

// pricesDiffer says how the prices of two cells differ, and whether in the
// currency, so that their costs cannot be compared.
func pricesDiffer(a, b compare.Cell) (text string, currency bool) {
	pa, pb := PriceText(a), PriceText(b)
	if pa == pb || pa == "" || pb == "" {
		return "", false
	}
	return fmt.Sprintf("prices differ: %s against %s", pb, pa), CurrencyOf(a) != CurrencyOf(b)
}

// PriceText names the price of a cell; "" where it has none.
func PriceText(c compare.Cell) string {
	for _, r := range c.Steps {
		if r.Cost != nil {
			return PriceWords(r.Cost.Price)
		}
	}
	return ""
}

// PriceWords is a price in words.
func PriceWords(p results.Price) string {
	var parts []string
	if p.PerGPUHour != nil {
		parts = append(parts, fmt.Sprintf("%g %s a GPU-hour", *p.PerGPUHour, text.Clean(p.Currency)))
	}
	if p.PerKWh != nil {
		parts = append(parts, fmt.Sprintf("%g %s a kWh", *p.PerKWh, text.Clean(p.Currency)))
	}
	return strings.Join(parts, " and ")
}

// comparePrices notes prices that differ where costs are compared. Costs in
// different currencies are not.
func (s *Pair) comparePrices(judged []catalog.Figure) {
	isCost := func(name string) bool { return strings.HasPrefix(name, "cost_per_") }
	if !slices.ContainsFunc(judged, func(f catalog.Figure) bool { return isCost(f.Name) }) {
		return
	}
	text, currency := pricesDiffer(s.Baseline, s.Candidate)
	switch {
	case currency:
		s.Differences = slices.DeleteFunc(s.Differences, func(d compare.Difference) bool { return isCost(d.Figure) })
		s.Notes = append(s.Notes, text+": costs in different currencies are not compared")
	case text != "":
		s.Notes = append(s.Notes, text)
	case PriceText(s.Baseline) == "" || PriceText(s.Candidate) == "":
		s.Notes = append(s.Notes, "a side has no price: give --price gpu-hour=N, or price: in the scenario")
	}
}
