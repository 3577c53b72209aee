package scenarios

// Simulation says how a scenario runs on the simulator in place of its
// engines.
type Simulation struct {
	On     bool
	Device string  // a name in SimDevices; "": guessed from what the scenario says about itself
	Speed  float64 // how many times as fast as the engines played; 0: DefaultSimSpeed
}

// SimLauncher is the launcher of simulated servers.
const SimLauncher = "simulator"

// BenchProgram names bench itself in the argvs of simulated programs.
const BenchProgram = "${bench}"

// SimDevices are the devices that the simulator knows.
func SimDevices() []string { return []string{"mi300x", "h100", "strix-halo", "cpu"} }

// What is simulated where a scenario does not say.
const (
	DefaultSimSpeed  = 10
	DefaultSimDevice = "mi300x"
)
