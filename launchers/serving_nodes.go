package launchers

import (
	"context"
	"errors"
	"maps"

	"github.com/benchrig/bench/launchers/endpoint"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/ready"
)

// servingNode is a companion that takes requests beside the server.
type servingNode struct {
	*endpoint.Endpoint

	node string
}

// servingNodes are the companions that take requests; none of a nil *companions.
func (c *companions) servingNodes(kind engines.Kind) []servingNode {
	if c == nil {
		return nil
	}
	var all []servingNode
	for _, m := range c.members {
		if m.Serves == "" {
			continue
		}
		spec := c.spec
		spec.BaseURL = m.Serves
		all = append(all, servingNode{endpoint.New(kind, spec), m.Node})
	}
	return all
}

// besideStages wait for a token from each other node that takes requests.
func (s *Server) besideStages() []ready.Stage {
	var stages []ready.Stage
	for _, n := range s.beside {
		stage := ready.Token(n.Endpoint)
		stage.Name, stage.What = "token of node "+n.node, "a token of node "+n.node
		stages = append(stages, stage)
	}
	return stages
}

// URLs are where requests go: the server's own address, and those of other nodes of it
// that take them.
func (s *Server) URLs() []string {
	urls := []string{s.BaseURL()}
	for _, n := range s.beside {
		urls = append(urls, n.BaseURL())
	}
	return urls
}

// Counters are those of all nodes of the server that take requests, added up.
// What one of them does not have is absent.
func (s *Server) Counters(ctx context.Context) (map[string]float64, error) {
	return s.overNodes(ctx, (*endpoint.Endpoint).Counters)
}

// Metrics are gauges and counters of all nodes of the server that take requests:
// added up, of a share the highest.
func (s *Server) Metrics(ctx context.Context) (map[string]float64, error) {
	return s.overNodes(ctx, (*endpoint.Endpoint).Metrics)
}

// overNodes adds up a reading of each node.
func (s *Server) overNodes(
	ctx context.Context, read func(*endpoint.Endpoint, context.Context) (map[string]float64, error),
) (map[string]float64, error) {
	values, err := read(s.Endpoint, ctx)
	if len(s.beside) == 0 {
		return values, err
	}

	values = maps.Clone(values)
	for _, n := range s.beside {
		there, failed := read(n.Endpoint, ctx)
		err = errors.Join(err, failed)
		for name, value := range values {
			other, has := there[name]
			switch {
			case !has:
				delete(values, name)
			case s.kind.Gauges[name].Highest:
				values[name] = max(value, other)
			default:
				values[name] = value + other
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return values, nil
}
