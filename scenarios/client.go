package scenarios

// Client says where the load client runs. The zero value is in bench itself.
type Client struct {
	Hosts []string // that share the load, by ssh, or by srun as "srun:NODE"
	Bench string   // path of bench on them
	Copy  bool     // copy this bench there
	Reach string   // host under which they reach servers of this machine; "": its name
}

// Elsewhere reports whether the load comes from other hosts.
func (c Client) Elsewhere() bool { return len(c.Hosts) > 0 }
