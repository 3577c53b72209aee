package results

// AgentReport is what is known of a load agent after a pass. The times of its
// records are on the coordinator's clock, as far as OffsetBoundS says.
type AgentReport struct {
	Name           string `json:"name"` // as it was asked for
	Host           string `json:"host"` // as it calls itself
	Requests       int    `json:"requests"`
	MaxConcurrency int    `json:"max_concurrency,omitempty"` // its part of the cap; 0: no cap
	// its clock, which counts from its start, against the coordinator's, before the pass
	OffsetS float64 `json:"offset_s"`
	// its clock was never farther off than that from where it was taken to be
	OffsetBoundS float64  `json:"offset_bound_s"`
	DriftS       *float64 `json:"drift_s"` // change of the offset over the pass; null: not known
	CPUSeconds   *float64 `json:"cpu_s"`
	CPUs         int      `json:"cpus,omitempty"` // cores it may use; 0: unknown
	GCPauseS     *float64 `json:"gc_pause_s"`
	LateP99S     *float64 `json:"late_p99_s"`
	LagP99S      *float64 `json:"lag_p99_s"`
	// as ClientReport has them
	StarvedMaxS  *float64 `json:"starved_max_s,omitempty"`
	StealS       *float64 `json:"steal_s,omitempty"`
	CPUPressureS *float64 `json:"cpu_pressure_s,omitempty"`

	Calibration *Calibration `json:"calibration"` // of its host; null: "bench calibrate" was not run there
}
