package check

import (
	"strings"

	"github.com/benchrig/bench/scenarios"
)

// checkClient checks that hosts elsewhere can reach what is measured.
func (c *scenarioCheck) checkClient() {
	s := c.Scenario
	n := c.root.Get("client")
	if n == nil {
		return
	}
	refuse := func(keys ...string) {
		for _, key := range keys {
			if n.Get(key) != nil {
				c.errorf(n.At(key), "%s is for a client on %s", key, map[bool]string{
					true:  "this machine: it cannot be combined with hosts or agent-command",
					false: "other hosts: name them in client.hosts",
				}[s.Client.Elsewhere() && key != "bench" && key != "copy-bench"])
			}
		}
	}
	if !s.Client.Elsewhere() {
		if refuse("bench", "copy-bench", "reach"); s.Client.CPUs == "" && s.Client.Priority == "" {
			c.errorf(n.Pos, "client is empty: give hosts, agent-command, cpus or priority")
		}
		return
	}
	refuse("cpus", "priority")
	if len(s.Client.Hosts) == 0 {
		refuse("bench", "copy-bench")
	}
	for _, argv := range s.Client.Commands {
		c.programPath(n, "agent-command", "client", argv)
	}
	if s.Method != scenarios.Serving && s.Method != scenarios.SQZB {
		c.errorf(n.Pos, "client is for methods that send requests")
	}
	if s.Client.Copy {
		for _, host := range s.Client.Hosts {
			if strings.HasPrefix(host, "srun:") {
				c.errorf(n.At("copy-bench"),
					"copy-bench cannot be combined with %s, which has this file system anyway: bench: says where", host)
			}
		}
	}

	for _, v := range s.Variants {
		switch host := v.Server.Host; {
		case v.Server.Kind().External && v.Server.UnixSocket != "":
			c.errorf(v.Pos, "variant %q: a unix socket cannot be reached from other hosts (client)", v.Name)
		case !v.Server.Kind().External &&
			(host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")):
			c.errorf(v.Pos, "variant %q: host is %q, which client.hosts cannot reach: set server.host to 0.0.0.0 "+
				"or an address of this machine", v.Name, host)
		}
	}
}
