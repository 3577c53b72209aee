package results

// TelemetryName is the file of a step that holds what GPUs and host said
// while its pass ran; ".zst" is added when the step has ended.
const TelemetryName = "telemetry.jsonl"

// TelemetrySample is one line of telemetry.jsonl. Exactly one of GPU, Host
// and Gap is set.
type TelemetrySample struct {
	AtS  float64       `json:"at_s"` // moment of the reading, seconds since the pass began; negative before it
	GPU  *GPUReading   `json:"gpu,omitempty"`
	Host *HostReading  `json:"host,omitempty"`
	Gap  *TelemetryGap `json:"gap,omitempty"`
}

// GPUReading is what one GPU said of itself at one moment. What the source
// does not know is null, never 0 and never the value before.
type GPUReading struct {
	Device        string   `json:"device"` // id of the device in environment.json
	VRAMUsedBytes *int64   `json:"vram_used_bytes"`
	GTTUsedBytes  *int64   `json:"gtt_used_bytes"` // host memory in use by the GPU; on APUs the model lies there
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

// HostReading is what the machine said of itself.
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
