package scenarios

// Client says where the load client runs. The zero value is in bench itself.
type Client struct {
	Hosts []string // that share the load, by ssh, or by srun as "srun:NODE"
	Bench string   // path of bench on them
	Copy  bool     // copy this bench there

	Commands [][]string // that each start bench load-agent elsewhere; they share the load too

	Reach string // host under which they reach servers of this machine; "": its name

	CPUs     string // of the loops that read, as Linux lists them, or "auto"; "": any
	Priority Priority
}

// AutoCPUs has bench choose CPUs.
const AutoCPUs = "auto"

// AutoNUMA binds a server to the NUMA node of its GPUs.
const AutoNUMA = "auto"

// Priority is how the loops of the client are scheduled.
type Priority string

// The priorities.
const (
	PriorityNormal Priority = "normal"
	PriorityHigh   Priority = "high" // preferred to other programs, where that is permitted
)

// HighNice is the nice value of PriorityHigh.
const HighNice = -15

// Elsewhere reports whether the load comes from other hosts.
func (c Client) Elsewhere() bool { return len(c.Hosts)+len(c.Commands) > 0 }
