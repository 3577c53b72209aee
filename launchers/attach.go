package launchers

import (
	"context"
	"encoding/json"
	"time"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

// Attach gives a server that runs already, without asking it anything: the
// caller vouches for it. It is for questions beside a run, such as Models.
func Attach(kind engines.Kind, spec recipe.Spec) *Server {
	server := newServer(kind, spec, joinable(spec.BaseURL), nil)
	server.began = time.Now()
	return server
}

// Models asks the server which models it serves. The first becomes its model
// if none was named.
func (s *Server) Models(ctx context.Context) ([]string, error) {
	a := s.probe.get(ctx, s.kind.ModelsPath)
	if !a.ok() {
		return nil, a.failure()
	}
	var list modelList
	if json.Unmarshal(a.body, &list) != nil || len(list.Data) == 0 {
		return nil, results.Failf(results.FailProtocol, "%s: no model in the list", a)
	}
	names := make([]string, len(list.Data))
	for i, model := range list.Data {
		names[i] = model.ID
		if s.Model() == "" || sameModel(model.ID, s.Model()) {
			s.served(model, i == 0)
		}
	}
	return names, nil
}
