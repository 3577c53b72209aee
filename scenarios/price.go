package scenarios

// Price says what hardware costs. What a variant's price does not give is the
// scenario's.
type Price struct {
	GPUHour  float64 // one GPU for an hour; 0: not given
	KWh      float64 // energy of the GPUs; 0: not given
	Currency string  // "USD"; of the scenario's price only
	GPUs     int     // that one replica takes; 0: those that it is placed on
}

// PriceOf is the price that holds for a variant; the zero value: none is given.
func (s *Scenario) PriceOf(v Variant) Price {
	p := v.Price
	if p.GPUHour == 0 {
		p.GPUHour = s.Price.GPUHour
	}
	if p.KWh == 0 {
		p.KWh = s.Price.KWh
	}
	if p.GPUs == 0 {
		p.GPUs = s.Price.GPUs
	}
	if p.Currency = s.Price.Currency; p.Currency == "" {
		p.Currency = DefaultCurrency
	}
	if p.GPUHour == 0 && p.KWh == 0 {
		return Price{}
	}

	return p
}

// DefaultCurrency is the ISO 4217 code of the currency of a price that names none.
const DefaultCurrency = "USD"
