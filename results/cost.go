package results

// Price is what hardware costs. With both prices the costs add up: a GPU-hour
// is then meant without its energy.
type Price struct {
	PerGPUHour *float64 `json:"per_gpu_hour"` // null: GPUs cost nothing by the hour
	PerKWh     *float64 `json:"per_kwh"`      // null: energy costs nothing
	Currency   string   `json:"currency"`     // "USD"
	// that one replica takes; null: those that it was placed on, or that were read
	GPUs *int `json:"gpus"`
}

// Known reports whether there is anything to pay.
func (p Price) Known() bool { return p.PerGPUHour != nil || p.PerKWh != nil }

// Over lays p over another price: what p does not say is the other's.
func (p Price) Over(other Price) Price {
	if p.PerGPUHour == nil {
		p.PerGPUHour = other.PerGPUHour
	}
	if p.PerKWh == nil {
		p.PerKWh = other.PerKWh
	}
	if p.Currency == "" {
		p.Currency = other.Currency
	}
	if p.GPUs == nil {
		p.GPUs = other.GPUs
	}
	return p
}

// Cost is what the measured pass of a step cost, in Price.Currency. Its figures
// are null where one of their parts is not known; Reason says which.
type Cost struct {
	Price Price `json:"price"`
	GPUs  *int  `json:"gpus"` // paid for, of all servers
	// how many is known from: "price", "placement", "telemetry"; "": not known, or not asked
	GPUsFrom string   `json:"gpus_from"`
	GPUHours *float64 `json:"gpu_hours"` // null: no price of them, or not known
	// of the GPUs, what they draw when idle included, without the host; null: as above
	EnergyKWh *float64 `json:"energy_kwh"`
	Total     *float64 `json:"total"`

	PerMillionOutput *float64 `json:"cost_per_million_output_tokens"`
	PerMillionTotal  *float64 `json:"cost_per_million_total_tokens"` // input and output
	PerRequest       *float64 `json:"cost_per_request"`              // successful ones
	Reason           string   `json:"no_cost,omitempty"`             // why figures are null
}

// The sources of a number of GPUs, as in Cost.GPUsFrom.
const (
	GPUsOfPrice     = "price"     // the price says it
	GPUsOfPlacement = "placement" // the servers were given them
	GPUsOfTelemetry = "telemetry" // those that were read beside the step: all that its servers could see
)

// PriceOf is what the manifest says about a variant's hardware.
func (m *Manifest) PriceOf(variant string) Price {
	p := m.Prices[variant]
	if m.Price != nil {
		p = p.Over(*m.Price)
	}
	return p
}
