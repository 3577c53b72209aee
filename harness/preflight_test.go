package harness

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/launchers/endpoint"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// named is a launcher whose servers say who they are, one answer an asking.
type named struct {
	*world
	told []endpoint.Identity
}

type namedServer struct {
	*fakeServer
	of *named
}

func (n *named) Launch(ctx context.Context, kind engines.Kind, spec recipe.Spec) (step.Server, error) {
	s, err := n.world.Launch(ctx, kind, spec)
	if err != nil {
		return nil, err
	}
	return namedServer{s.(*fakeServer), n}, nil
}

func (s namedServer) Abilities() step.Abilities {
	can := s.fakeServer.Abilities()
	can.Identity, can.WrongModel = s.identity, s.wrongModel
	return can
}

func (s namedServer) identity(context.Context) (endpoint.Identity, error) {
	id := s.of.told[0]
	if len(s.of.told) > 1 {
		s.of.told = s.of.told[1:]
	}
	return id, nil
}

func (s namedServer) wrongModel(id endpoint.Identity) *results.Failure {
	if !id.Listed {
		return results.Failf(results.FailWrongModel, "serves %s", id.Others)
	}
	return nil
}

func TestWhoAnswers(t *testing.T) {
	q8 := endpoint.Identity{Version: "1", Model: "m", Listed: true, Root: "q8.gguf"}
	q4, newer, other := q8, q8, endpoint.Identity{Model: "m", Others: `"x"`}
	q4.Root, newer.Version = "q4.gguf", "2"
	for _, c := range []struct {
		name     string
		launcher string
		told     []endpoint.Identity
		want     []string
		drives   int
	}{
		{"the same", "simulator", []endpoint.Identity{q8}, []string{"a_c1_r1 ok", "a_c2_r1 ok"}, 2},
		{
			"another file before the second step", "simulator",
			[]endpoint.Identity{q8, q4},
			[]string{"a_c1_r1 ok", "a_c2_r1 failed wrong-model"},
			1,
		},
		{"another name in the list", "simulator", []endpoint.Identity{other}, []string{
			"a_c1_r1 failed wrong-model",
			"a_c2_r1 failed wrong-model",
		}, 0},
		{
			"a server of ours is not asked after a step", "simulator",
			[]endpoint.Identity{q8, q8, q4},
			[]string{"a_c1_r1 ok", "a_c2_r1 ok"},
			2,
		},
		{"one of others is", "external", []endpoint.Identity{q8, q4, q8}, []string{
			"a_c1_r1 failed wrong-model",
			"a_c2_r1 ok",
		}, 2},
		{
			"a newer version after the step", "external",
			[]endpoint.Identity{q8, newer},
			[]string{"a_c1_r1 failed wrong-model", "a_c2_r1 failed wrong-model"},
			1,
		},
		{
			"what is not told is not a change", "external",
			[]endpoint.Identity{q8, {Model: "m", Listed: true}},
			[]string{"a_c1_r1 ok", "a_c2_r1 ok"},
			2,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sc := testScenario(scenarios.Interleaved, scenarios.RestartVariant)
				sc.Variants, sc.Repeats = sc.Variants[:1], 1
				sc.Variants[0].Server.Launcher = c.launcher
				if c.launcher == "external" {
					sc.Variants[0].Server.BaseURL = "http://127.0.0.1:1"
				}
				w := &world{}
				w.runner = func(r *Runner) { r.Launcher = &named{w, c.told} }
				run, _ := w.run(t.Context(), t, sc)
				if diff := cmp.Diff(c.want, verdicts(run)); diff != "" {
					t.Errorf("verdicts: (-want +got)\n%s", diff)
				}
				if w.drives != c.drives {
					t.Errorf("%d passes were driven, want %d", w.drives, c.drives)
				}
			})
		})
	}
}
