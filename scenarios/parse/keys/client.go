package keys

import (
	"strings"
	"unicode"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// clientField is the key client:.
func clientField() schema.Field[scenarios.Scenario] {
	return schema.GivenBlockKey("client", "Where the load client runs: on this machine, or on other hosts.", Client(),
		func(s *scenarios.Scenario) *scenarios.Client { return &s.Client })
}

// Client are the keys of client:.
func Client() schema.Block[scenarios.Client] {
	return schema.Block[scenarios.Client]{
		Name: "under client:", Doc: "A client on the server's machine competes with it for cores; cpus reserves " +
			"some for the client. With hosts, bench starts load-agent on each host for the duration of the run; " +
			"servers must listen on an address that the hosts can reach.",
		Example: "\nhosts: [client1, client2]\nbench: /opt/bench/bench\nreach: gpu-box.example\n",
		Fields: []schema.Field[scenarios.Client]{
			schema.FreeKey("hosts", "Host names for ssh, or srun:NODE within a Slurm allocation. Several hosts "+
				"share the load.", schema.Texts(), readClientHosts).
				DefaultNote("none; the client runs in bench itself"),
			schema.FreeKey("agent-command", "Command that starts bench load-agent elsewhere and connects its standard "+
				"input and output, or a list of such commands.",
				schema.OneOf(schema.Texts(),
					schema.ListOf(schema.Texts())), readAgentCommands),
			schema.TextKey("bench", "Path of bench on the hosts; it must be the same version.",
				func(c *scenarios.Client) *string { return &c.Bench }).Or("bench"),
			schema.FlagKey("copy-bench", "Copy this bench to the hosts for the duration of the run.",
				func(c *scenarios.Client) *bool { return &c.Copy }).Or("false"),
			schema.TextKey("reach", "Name or address under which the hosts reach this machine.",
				func(c *scenarios.Client) *string { return &c.Reach }).DefaultNote("the name of this machine"),
			schema.CPUsKey("cpus",
				"CPUs of the threads that read answers, such as 6-7. auto chooses whole cores away from "+
					"interrupts, which servers without cpus: then avoid; it needs four cores, and plan and doctor "+
					"show the choice.", []string{scenarios.AutoCPUs},
				func(c *scenarios.Client) *string { return &c.CPUs }).DefaultNote("any"),
			schema.EnumKey("priority", "high gives the reading threads priority over other programs, if permitted "+
				"(CAP_SYS_NICE, or ulimit -e); results record a refusal.",
				[]scenarios.Priority{scenarios.PriorityNormal, scenarios.PriorityHigh},
				func(c *scenarios.Client) *scenarios.Priority { return &c.Priority }).DefaultNote("normal"),
		},
	}
}

func readClientHosts(r *schema.Reader, n *schema.Node, c *scenarios.Client) {
	hosts, ok := r.Texts(n)
	if ok && len(hosts) == 0 {
		r.Fail(n.Pos, "hosts is an empty list: leave client out for load from this machine")
	}
	for _, host := range hosts {
		name := strings.TrimPrefix(host, "srun:")
		if name == "" || strings.HasPrefix(name, "-") || strings.ContainsFunc(name, unicode.IsControl) {
			r.Fail(n.Pos, "hosts has %q, expected a name that ssh knows or srun:NODE", host)
		}
	}
	c.Hosts = hosts
}

// readAgentCommands reads one command, or a list of them.
func readAgentCommands(r *schema.Reader, n *schema.Node, c *scenarios.Client) {
	commands := []*schema.Node{n}
	if n.Kind == schema.List && len(n.Items) > 0 && n.Items[0].Kind == schema.List {
		commands = n.Items
	}
	for _, command := range commands {
		if argv, ok := r.Argv(command); ok {
			c.Commands = append(c.Commands, argv)
		}
	}
}
