package results

// TelemetryName is the file of a step that holds what GPUs and host said
// while its pass ran; ".zst" is added when the step has ended.
const TelemetryName = "telemetry.jsonl"

// TelemetrySample is one line of telemetry.jsonl. Exactly one of GPU, Host
// and Gap is set.
type TelemetrySample struct {
	Node string        `json:"node,omitempty"` // another node of a server; "": bench's own
	AtS  float64       `json:"at_s"`           // of the reading, seconds since the pass began; negative before it
	GPU  *GPUReading   `json:"gpu,omitempty"`
	Host *HostReading  `json:"host,omitempty"`
	Gap  *TelemetryGap `json:"gap,omitempty"`
}

// GPUReading is what one GPU said about itself at one moment. What the source
// does not know is null, never 0 and never the value before.
type GPUReading struct {
	Device        string   `json:"device"` // id of the device in environment.json
	VRAMUsedBytes *int64   `json:"vram_used_bytes"`
	GTTUsedBytes  *int64   `json:"gtt_used_bytes"` // host memory in use by the GPU; on APUs the model is there
	PowerW        *float64 `json:"power_w"`
	PowerKind     string   `json:"power_kind"`  // "instant", "average", "" where the source does not say
	EnergyJ       *float64 `json:"energy_j"`    // counter since some moment in the past
	Busy          *float64 `json:"busy"`        // share of time that the compute units were in use, 0 to 1
	MemoryBusy    *float64 `json:"memory_busy"` // busy share of the memory controller
	CoreHz        *float64 `json:"core_hz"`
	MemoryHz      *float64 `json:"memory_hz"`
	EdgeC         *float64 `json:"edge_c"`
	HotspotC      *float64 `json:"hotspot_c"`
	MemoryC       *float64 `json:"memory_c"`
	PowerLimitW   *float64 `json:"power_limit_w"`
	Throttle      []string `json:"throttle"` // reasons in force, see ThrottleReasons; null: not known, empty: none
}

// Reasons of throttling under one set of names for all vendors.
const (
	ThrottlePower     = "power-cap"     // software power cap, PPT
	ThrottleThermal   = "thermal"       // core or hotspot
	ThrottleMemory    = "memory-hot"    // HBM
	ThrottleRegulator = "regulator-hot" // voltage regulator
	ThrottleHardware  = "hardware"      // slowdown, PROCHOT, power brake
)

// HostReading is what the machine said about itself.
type HostReading struct {
	CPUBusy         *float64 `json:"cpu_busy"` // share of all cores, 0 to 1
	MemoryUsedBytes *int64   `json:"memory_used_bytes"`
	Load1           *float64 `json:"load_1m"`
}

// TelemetryGap is a reading that failed.
type TelemetryGap struct {
	Source string `json:"source"`
	Why    string `json:"why"`
}

// GPUHolder is a process that holds memory of a GPU.
type GPUHolder struct {
	PID    int    `json:"pid"`
	Device string `json:"device"`         // "" where the source does not say which
	Bytes  *int64 `json:"vram_bytes"`     // of all its devices where Device is ""
	Name   string `json:"name"`           // as the source or /proc says; cut short by some
	Ours   bool   `json:"ours,omitempty"` // a process of our own servers
}

// MemoryUsageName is the file of a step that shows the video memory in use
// before and after its pass, in the layout of nvidia-smi's table.
const MemoryUsageName = "mem_usage.txt"

// Telemetry are the figures of what GPUs and host did during the measured
// pass of a step; docs/metrics.md has the formulas. The samples behind them
// are in telemetry.jsonl.
type Telemetry struct {
	Samplers    []string        `json:"samplers"`      // that readings came from
	PeriodS     *float64        `json:"period_s"`      // asked between readings
	Readings    int             `json:"readings"`      // of the GPUs, during the pass
	Gaps        int             `json:"gaps"`          // readings that failed during it
	LongestGapS *float64        `json:"longest_gap_s"` // between readings of one GPU, the edges of the pass included
	CPUShare    *float64        `json:"cpu_share"`     // CPU seconds that sampling took per second
	GPUs        []GPUFigures    `json:"gpus"`          // that the step used
	Sum         *GPUFigures     `json:"sum"`           // over them and those of nodes; null: no GPU
	Efficiency  *Efficiency     `json:"efficiency"`    // of the whole pass
	Steady      *Efficiency     `json:"steady_efficiency"`
	Host        *HostFigures    `json:"host"`            // null: not sampled
	Nodes       []NodeTelemetry `json:"nodes,omitempty"` // other nodes of the step's servers that were sampled
	Notes       []string        `json:"notes"`           // why figures are null, and how to read them
}

// NodeTelemetry are the figures of another host that took part in a pass: a node
// of a server, or the host of a load agent.
type NodeTelemetry struct {
	Node string       `json:"node"`
	Host *HostFigures `json:"host"` // null: not sampled
	GPUs []GPUFigures `json:"gpus"` // that were granted there
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
