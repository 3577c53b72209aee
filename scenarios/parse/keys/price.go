package keys

import (
	"regexp"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// priceField is the key price: of a scenario; without it nothing has a cost.
func priceField() schema.Field[scenarios.Scenario] {
	return schema.GivenBlockKey("price", "Price of the hardware: reports then show the cost per million tokens.",
		Price(), func(s *scenarios.Scenario) *scenarios.Price { return &s.Price })
}

// variantPriceField is the same for one variant.
func variantPriceField() schema.Field[scenarios.Variant] {
	return schema.GivenBlockKey("price", "Price of this variant's hardware; overrides that of the scenario key by "+
		"key.", VariantPrice(), func(v *scenarios.Variant) *scenarios.Price { return &v.Price })
}

// Price are the keys of price:.
func Price() schema.Block[scenarios.Price] {
	return schema.Block[scenarios.Price]{
		Name: "under price:", Doc: "A price of GPU-hours, of energy, or of both, which are added; the price of a " +
			"rented GPU-hour usually includes energy. Energy is the GPUs' as measured, including idle power and " +
			"excluding the host.",
		Example: "\ngpu-hour: 1.99\ncurrency: USD\n",
		Fields: append(VariantPrice().Fields,
			schema.FreeKey("currency", "Currency code of ISO 4217, three letters.", schema.Simple(schema.TextShape),
				readCurrency).Or(scenarios.DefaultCurrency)),
	}
}

// VariantPrice are the keys of price: in a variant.
func VariantPrice() schema.Block[scenarios.Price] {
	return schema.Block[scenarios.Price]{
		Name: "under price: of a variant", Doc: "Keys that are missing are taken from the scenario's price. The " +
			"whole run has one currency.", Example: "\ngpu-hour: 3.50\n",
		Fields: []schema.Field[scenarios.Price]{
			schema.NumberKey("gpu-hour", "Price of one GPU for one hour.", schema.Positive(false),
				func(p *scenarios.Price) *float64 { return &p.GPUHour }).DefaultNote("none"),
			schema.NumberKey("kwh", "Price of one kilowatt-hour.", schema.Positive(false),
				func(p *scenarios.Price) *float64 { return &p.KWh }).DefaultNote("none"),
			schema.WholeKey("gpus", "GPUs of one replica, if bench cannot know them: an external server, or one "+
				"without placement.", schema.Between(1, 1024),
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
