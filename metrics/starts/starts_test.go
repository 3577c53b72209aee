package starts

import (
	"fmt"
	"slices"
	"testing"

	"github.com/benchrig/bench/results"
)

func shown(measures []results.Measure) (all []string) {
	for _, m := range measures {
		all = append(all, fmt.Sprintf("%s %.3g", m.Name, *m.Value))
	}
	return all
}

func rungs(pairs ...any) (all []results.Phase) {
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, results.Phase{Name: pairs[i].(string), AtS: pairs[i+1].(float64)})
	}
	return all
}

func TestMeasures(t *testing.T) {
	logged := func(pairs ...any) *results.Startup {
		s := &results.Startup{}
		for i := 0; i < len(pairs); i += 2 {
			s.Phases = append(s.Phases, results.StartupPhase{Name: pairs[i].(string), Seconds: pairs[i+1].(float64)})
		}
		return s
	}
	for _, c := range []struct {
		name   string
		server results.Server
		want   []string
	}{
		{
			"an engine that logs everything",
			results.Server{
				ReadyPhases: rungs("alive", 0.0, "output", 4.0, "tcp", 60.0, "health", 61.0, "model", 61.5,
					"token", 63.0),
				Startup: logged("weights", 20.0, "compile", 15.0, "graph-capture", 8.0, "init", 30.0),
			},
			[]string{
				"start_s 61", "time_to_first_token_after_launch_s 63", "start_process_s 4", "start_weights_s 20",
				"start_compile_s 15", "start_graph_capture_s 8", "start_init_s 7", "start_other_s 7",
				"start_first_token_s 2",
			},
		},
		{
			"one that logs nothing and has no health check",
			results.Server{ReadyPhases: rungs("tcp", 1.0, "model", 2.0, "answer", 3.0)},
			[]string{
				"start_s 2", "time_to_first_token_after_launch_s 3", "start_other_s 2", "start_first_token_s 1",
			},
		},
		{
			"phases that overlap leave no rest",
			results.Server{
				ReadyPhases: rungs("health", 10.0, "token", 10.5), Startup: logged("weights", 8.0, "compile", 7.0),
			},
			[]string{
				"start_s 10", "time_to_first_token_after_launch_s 10.5", "start_weights_s 8", "start_compile_s 7",
				"start_first_token_s 0.5",
			},
		},
		{"nothing is known", results.Server{}, nil},
	} {
		if got := shown(Measures(c.server)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
