package results

// MemoryUsageName is the file of a step that shows the video memory in use
// before and after its pass, in the layout of nvidia-smi's table.
const MemoryUsageName = "mem_usage.txt"

// Telemetry are the figures of what GPUs and host did during the measured
// pass of a step; docs/metrics.md has the formulas. The samples behind them
// are in telemetry.jsonl.
type Telemetry struct {
	Samplers    []string     `json:"samplers"`      // that readings came from
	PeriodS     *float64     `json:"period_s"`      // asked between readings
	Readings    int          `json:"readings"`      // of the GPUs, during the pass
	Gaps        int          `json:"gaps"`          // readings that failed during it
	LongestGapS *float64     `json:"longest_gap_s"` // between readings of one GPU, the edges of the pass included
	CPUShare    *float64     `json:"cpu_share"`     // CPU seconds that sampling took per second
	GPUs        []GPUFigures `json:"gpus"`          // that the step used
	Sum         *GPUFigures  `json:"sum"`           // over them; null: no GPU
	Efficiency  *Efficiency  `json:"efficiency"`    // of the whole pass
	Steady      *Efficiency  `json:"steady_efficiency"`
	Host        *HostFigures `json:"host"`  // null: not sampled
	Notes       []string     `json:"notes"` // why figures are null, and how to read them
}

// GPUFigures are the figures of one GPU, or the sum over several. In a sum,
// shares of time and temperatures are those of the GPU that has the largest,
// busy and clocks are means, and what one GPU does not know nobody knows.
type GPUFigures struct {
	Device string `json:"device"` // id as in environment.json; "" in a sum
	Index  int    `json:"index"`  // as in the scenario
	Name   string `json:"name"`
	// id of the device whose power and energy hold for this one too: partitions of one socket; "": its own
	CountedWith  string     `json:"counted_with"`
	VRAMBytes    *int64     `json:"vram_bytes"`      // that it has
	VRAMBaseline *int64     `json:"vram_baseline"`   // bytes in use before the variant's first server
	VRAMLoaded   *int64     `json:"vram_loaded"`     // at second 0
	VRAMPeak     *int64     `json:"vram_peak"`       // during the pass; of a sum: sum of the peaks
	VRAMEnd      *int64     `json:"vram_end"`        // when the pass ended
	Unified      bool       `json:"unified"`         // memory is that of the host: the memory_ figures hold
	MemoryBase   *int64     `json:"memory_baseline"` // VRAM and GTT together
	MemoryLoaded *int64     `json:"memory_loaded"`
	MemoryPeak   *int64     `json:"memory_peak"`
	IdleW        *float64   `json:"idle_w"`     // before the run's first server
	PowerKind    string     `json:"power_kind"` // "instant", "average" over about a second, ""
	PowerLimitW  *float64   `json:"power_limit_w"`
	LimitChanged bool       `json:"power_limit_changed"` // during the pass
	Pass         GPUWindow  `json:"pass"`
	Steady       *GPUWindow `json:"steady_state"` // as Pass, of the steady state; null: there is none
}

// GPUWindow are figures of one GPU, or of several, over a span of time.
type GPUWindow struct {
	FromS        float64  `json:"from_s"`
	ToS          float64  `json:"to_s"`
	Readings     int      `json:"readings"`
	LongestGapS  *float64 `json:"longest_gap_s"`
	PowerMeanW   *float64 `json:"power_mean_w"` // energy / length
	PowerMedianW *float64 `json:"power_median_w"`
	PowerMaxW    *float64 `json:"power_max_w"`
	EnergyJ      *float64 `json:"energy_j"`            // trapezoid over the power readings
	NoEnergy     string   `json:"no_energy,omitempty"` // why energy_j is null
	AboveIdleJ   *float64 `json:"energy_above_idle_j"`
	// by the GPU's own counter; null: none, or not to be trusted
	CounterJ     *float64           `json:"energy_counter_j"`
	NoCounter    string             `json:"no_energy_counter,omitempty"` // why a counter that is there is not trusted
	Disagreement *float64           `json:"energy_disagreement"`         // counter / trapezoid - 1
	BusyMean     *float64           `json:"busy_mean"`
	MemoryBusy   *float64           `json:"memory_busy_mean"`
	CoreHzMean   *float64           `json:"core_hz_mean"`
	CoreHzMin    *float64           `json:"core_hz_min"`
	MemoryHzMean *float64           `json:"memory_hz_mean"`
	TempMeanC    *float64           `json:"temperature_mean_c"` // of the hotspot, else of the edge
	TempMaxC     *float64           `json:"temperature_max_c"`
	MemTempMaxC  *float64           `json:"memory_temperature_max_c"`
	Throttle     map[string]float64 `json:"throttle"` // reason -> share of time; null: not known, empty: none
}

// Efficiency relates energy to work. Its figures are null where the energy of
// a GPU or the work is not known.
type Efficiency struct {
	JPerOutputToken *float64 `json:"j_per_output_token"`
	JPerTotalToken  *float64 `json:"j_per_total_token"` // input and output
	JPerRequest     *float64 `json:"j_per_request"`     // successful ones
	TokensPerSPerW  *float64 `json:"output_tokens_per_s_per_w"`
}

// HostFigures are those of the machine over the whole pass.
type HostFigures struct {
	CPUBusyMean    *float64 `json:"cpu_busy_mean"`
	CPUBusyMax     *float64 `json:"cpu_busy_max"`
	MemoryUsedPeak *int64   `json:"memory_used_peak"`
	Load1Max       *float64 `json:"load_1m_max"`
}
