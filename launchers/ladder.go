package launchers

import (
	"cmp"
	"context"
	"slices"

	"github.com/benchrig/bench/launchers/ready"
)

// ladder is what a server must show, in order. The names are those of
// results.Phase. The port's owner is checked before anything that answers there
// is believed: a stranger may have taken the port since it was chosen.
func (s *Server) ladder() []ready.Stage {
	var stages []ready.Stage
	if s.process != nil {
		stages = append(stages, ready.Stage{Name: "alive", What: "the process", Try: s.tryAlive})
	}

	stages = append(stages, ready.TCP(s.Endpoint, s.process == nil, s.began))
	if s.process != nil && !s.spec.Span.Step { // whose listeners are not srun's
		strikes := 0
		stages = append(stages, ready.Stage{
			Name: ownerStage, What: "the port's owner",
			Try: func(ctx context.Context) ready.Step {
				return s.tryOwner(ctx, &strikes)
			},
		})
	}
	if s.log != nil && s.spec.Ready.Log != "" {
		stages = append(stages, ready.Log(s.log, s.spec.Ready.Log))
	}
	if path := cmp.Or(s.spec.Ready.Path, s.kind.API.HealthPath); path != "" {
		stages = append(stages, ready.Health(s.Endpoint, path))
	}
	if s.kind.API.ModelsPath != "" {
		stages = append(stages, ready.Model(s.Endpoint, s.kind))
	}

	if s.spec.Inner {
		return stages // a prefill server may answer nobody but its router, whose token shows that all work
	}
	if s.spec.Answer.Path != "" {
		return append(stages, ready.Answer(s.Endpoint, s.spec.Answer))
	}
	return append(append(stages, ready.Token(s.Endpoint)), s.besideStages()...)
}

// unlessIntruder makes the results of the stages behind that of the port's owner
// count only if nobody has begun to share the port: an answer may be a stranger's.
func (s *Server) unlessIntruder(stages []ready.Stage) []ready.Stage {
	owner := slices.IndexFunc(stages, func(stage ready.Stage) bool { return stage.Name == ownerStage })
	for i := owner + 1; owner >= 0 && i < len(stages); i++ {
		try := stages[i].Try
		stages[i].Try = func(ctx context.Context) ready.Step {
			result := try(ctx)
			if result.Done || result.Final != nil {
				if failure := s.Intruder(ctx); failure != nil {
					return ready.Step{Final: failure}
				}
			}
			return result
		}
	}
	return stages
}

// ownerStage is the name of the stage that checks who has the port.
const ownerStage = "owner"
