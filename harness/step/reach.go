package step

import (
	"net"
	"net/url"
	"os"

	"github.com/benchrig/bench/scenarios"
)

// reachable are the addresses of servers as the load client has them: where it
// runs on other hosts, by a name of this machine in place of its loopback.
func reachable(client scenarios.Client, urls []string) []string {
	if !client.Elsewhere() {
		return urls
	}

	reach := client.Reach
	if reach == "" {
		reach, _ = os.Hostname() // "": the address stays
	}

	out := make([]string, len(urls))
	for i, address := range urls {
		out[i] = address
		u, err := url.Parse(address)
		if err != nil || reach == "" {
			continue
		}
		if ip := net.ParseIP(u.Hostname()); ip != nil && ip.IsLoopback() || u.Hostname() == "localhost" {
			u.Host = net.JoinHostPort(reach, u.Port())
			out[i] = u.String()
		}
	}

	return out
}
