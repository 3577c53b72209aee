package device

// Facts are what a GPU runs and is set to: what another measurement of the
// same card must share to be comparable. Null is unknown.
type Facts struct {
	VBIOS         *string           `json:"vbios"`
	Firmware      map[string]string `json:"firmware,omitempty"` // AMD: version of each part
	Architecture  *string           `json:"architecture"`       // "sm_90", "gfx942"
	PowerLimitW   *float64          `json:"power_limit_w"`
	PowerDefaultW *float64          `json:"power_default_w"`
	PowerMinW     *float64          `json:"power_min_w"`
	PowerMaxW     *float64          `json:"power_max_w"`
	ECC           *bool             `json:"ecc"`
	ComputeMode   *string           `json:"compute_mode"` // NVIDIA: "default", "exclusive-process", "prohibited"
	MIG           *bool             `json:"mig"`          // NVIDIA: MIG mode is on
	Persistence   *bool             `json:"persistence"`  // NVIDIA: the driver stays loaded without clients
}

// Unknown names the facts that a GPU of the vendor has but does not tell.
func (f *Facts) Unknown(vendor string) []string {
	var names []string
	add := func(name string, missing bool) {
		if missing {
			names = append(names, name)
		}
	}
	add("vbios", f.VBIOS == nil)
	add("power limit", f.PowerLimitW == nil)
	if vendor == NVIDIA {
		add("ecc", f.ECC == nil)
		add("compute mode", f.ComputeMode == nil)
		add("persistence mode", f.Persistence == nil)
	}
	return names
}
