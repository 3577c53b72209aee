package scenarios

import "strings"

// clientField is read where it is given: its defaults are of no meaning
// elsewhere.
func clientField() field[Scenario] {
	return freeKey("client", "From where the load comes: from this box, or from other hosts.", blockOf(clientBlock().info()),
		func(r *reader, n *node, s *Scenario) { decode(r, clientBlock(), n, &s.Client) })
}

func clientBlock() block[Client] {
	return block[Client]{
		name: "under client:", doc: "A client on the server's own box takes cores from it. On each of these hosts bench load-agent is started for the time of the run; servers must listen on an " +
			"address that the hosts can reach.",
		example: "\nhosts: [client1, client2]\nbench: /opt/bench/bench\nreach: gpu-box.example\n",
		fields: []field[Client]{
			freeKey("hosts", "Names that ssh knows, or srun:NODE within a Slurm allocation. Several share the load.", listOf(simple(textShape)), readClientHosts).must(),
			textKey("bench", "Path of bench on the hosts, of the same version.", func(c *Client) *string { return &c.Bench }).or("bench"),
			flagKey("copy-bench", "Copy this bench to the hosts, for the time of the run.", func(c *Client) *bool { return &c.Copy }).or("false"),
			textKey("reach", "Name or address under which the hosts reach this box.", func(c *Client) *string { return &c.Reach }).elseNote("the name of this box"),
		},
	}
}

func readClientHosts(r *reader, n *node, c *Client) {
	hosts, ok := r.texts(n)
	if ok && len(hosts) == 0 {
		r.fail(n.pos, "hosts is an empty list: leave client out for load from this box")
	}
	for _, host := range hosts {
		name := strings.TrimPrefix(host, "srun:")
		if name == "" || strings.HasPrefix(name, "-") || strings.ContainsFunc(name, isControl) {
			r.fail(n.pos, "hosts has %q, expected a name that ssh knows or srun:NODE", host)
		}
	}
	c.Hosts = hosts
}

// checkClient checks that hosts elsewhere can reach what is measured.
func (p *parser) checkClient(root *node, s *Scenario) {
	n := root.get("client")
	if !s.Client.Elsewhere() || n == nil {
		return
	}
	if s.Method != Serving && s.Method != SQZB {
		p.errs.add(n.pos, "client is for methods that send requests")
	}
	if s.Client.Copy {
		for _, host := range s.Client.Hosts {
			if strings.HasPrefix(host, "srun:") {
				p.errs.add(n.at("copy-bench"), "copy-bench does not go with %s, which has this file system anyway: bench: says where", host)
			}
		}
	}
	for _, v := range s.Variants {
		switch host := v.Server.Host; {
		case v.Server.Launcher == "external" && v.Server.UnixSocket != "":
			p.errs.add(v.Pos, "variant %q: a unix socket cannot be reached from client.hosts", v.Name)
		case v.Server.Launcher != "external" && (host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")):
			p.errs.add(v.Pos, "variant %q: host is %q, which client.hosts cannot reach: set server.host to 0.0.0.0 or an address of this box", v.Name, host)
		}
	}
}
