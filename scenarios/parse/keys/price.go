package keys

import (
	"regexp"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// PriceField is read where it is given only: without it nothing has a cost.
func PriceField() schema.Field[scenarios.Scenario] {
	return schema.FreeKey("price", "What the hardware costs: figures get a cost per million tokens beside them.",
		schema.BlockOf(Price().Info()),
		func(r *schema.Reader, n *schema.Node, s *scenarios.Scenario) {
			schema.Decode(r, Price(), n, &s.Price)
		})
}

// VariantPriceField is the same for one variant.
func VariantPriceField() schema.Field[scenarios.Variant] {
	return schema.FreeKey("price", "Of this variant's hardware, laid over that of the scenario.",
		schema.BlockOf(VariantPrice().Info()),
		func(r *schema.Reader, n *schema.Node, v *scenarios.Variant) {
			schema.Decode(r, VariantPrice(), n, &v.Price)
		})
}

// Price are the keys of price:.
func Price() schema.Block[scenarios.Price] {
	return schema.Block[scenarios.Price]{
		Name: "under price:", Doc: "A price of GPU-hours, of energy, or both, which add up: a rented GPU-hour has " +
			"its energy in it. Energy is that of the GPUs as measured, idle power included and without the host.",
		Example: "\ngpu-hour: 1.99\ncurrency: USD\n",
		Fields: append(VariantPrice().Fields,
			schema.FreeKey("currency", "Three letters, as ISO 4217 has them.", schema.Simple(schema.TextShape),
				readCurrency).Or(scenarios.DefaultCurrency)),
	}
}

// VariantPrice are the keys of price: in a variant.
func VariantPrice() schema.Block[scenarios.Price] {
	return schema.Block[scenarios.Price]{
		Name: "under price: of a variant", Doc: "What is not given is the scenario's. The currency is one for the " +
			"whole run.", Example: "\ngpu-hour: 3.50\n",
		Fields: []schema.Field[scenarios.Price]{
			schema.NumberKey("gpu-hour", "Of one GPU for an hour.", schema.Positive(false),
				func(p *scenarios.Price) *float64 { return &p.GPUHour }).DefaultNote("not asked"),
			schema.NumberKey("kwh", "Of a kilowatt-hour.", schema.Positive(false),
				func(p *scenarios.Price) *float64 { return &p.KWh }).DefaultNote("not asked"),
			schema.WholeKey("gpus", "That one replica takes, where bench cannot know it: a server of others, or one "+
				"that is not placed.", schema.Between(1, 1024),
				func(p *scenarios.Price) *int { return &p.GPUs }).DefaultNote("those that it is placed on"),
		},
	}
}

var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

func readCurrency(r *schema.Reader, n *schema.Node, p *scenarios.Price) {
	code, ok := r.Text(n)
	if ok && !currencyCode.MatchString(code) {
		r.Fail(n.Pos, "currency is %s, expected three capital letters such as USD", n.Shown())
	}
	p.Currency = code
}
