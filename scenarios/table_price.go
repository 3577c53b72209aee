package scenarios

import "regexp"

const defaultCurrency = "USD"

// priceField is read where it is given only: without it nothing has a cost.
func priceField() field[Scenario] {
	return freeKey("price", "What the hardware costs: figures get a cost per million tokens beside them.", blockOf(priceBlock().info()),
		func(r *reader, n *node, s *Scenario) { decode(r, priceBlock(), n, &s.Price) })
}

// variantPriceField is the same for one variant.
func variantPriceField() field[Variant] {
	return freeKey("price", "Of this variant's hardware, laid over that of the scenario.", blockOf(variantPriceBlock().info()),
		func(r *reader, n *node, v *Variant) { decode(r, variantPriceBlock(), n, &v.Price) })
}

func priceBlock() block[Price] {
	return block[Price]{
		name: "under price:", doc: "A price of GPU-hours, of energy, or both, which add up: a rented GPU-hour has its energy in it. Energy is that of the GPUs as measured, idle power included and without the host.",
		example: "\ngpu-hour: 1.99\ncurrency: USD\n",
		fields: append(variantPriceBlock().fields,
			freeKey("currency", "Three letters, as ISO 4217 has them.", simple(textShape), readCurrency).or(defaultCurrency)),
	}
}

func variantPriceBlock() block[Price] {
	return block[Price]{
		name: "under price: of a variant", doc: "What is not given is the scenario's. The currency is one for the whole run.", example: "\ngpu-hour: 3.50\n",
		fields: []field[Price]{
			numberKey("gpu-hour", "Of one GPU for an hour.", positive(false), func(p *Price) *float64 { return &p.GPUHour }).elseNote("not asked"),
			numberKey("kwh", "Of a kilowatt-hour.", positive(false), func(p *Price) *float64 { return &p.KWh }).elseNote("not asked"),
			wholeKey("gpus", "That one replica takes, where bench cannot know it: a server of others, or one that is not placed.", between(1, 1024),
				func(p *Price) *int { return &p.GPUs }).elseNote("those that it is placed on"),
		},
	}
}

// checkPrice finds a price that prices nothing.
func (p *parser) checkPrice(n *node, s *Scenario) {
	if n == nil || n.kind != mapping || n.has("gpu-hour") || n.has("kwh") {
		return
	}
	for _, v := range s.Variants {
		if v.Price.GPUHour > 0 || v.Price.KWh > 0 {
			return
		}
	}
	p.errs.add(n.pos, "price has no effect: give gpu-hour or kwh, here or in a variant")
}

var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

func readCurrency(r *reader, n *node, p *Price) {
	code, ok := r.text(n)
	if ok && !currencyCode.MatchString(code) {
		r.fail(n.pos, "currency is %s, expected three capital letters such as USD", n.shown())
	}
	p.Currency = code
}
