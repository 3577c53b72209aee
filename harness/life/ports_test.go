package life

import (
	"context"
	"net"
	"slices"
	"testing"

	"github.com/benchrig/bench/harness/step"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

// recorded is a launcher whose first starts fail.
type recorded struct {
	fails []results.FailureClass
	ports []int // asked for
}

func (l *recorded) Launch(_ context.Context, _ engines.Kind, spec recipe.Spec) (step.Server, error) {
	l.ports = append(l.ports, spec.Port)
	if n := len(l.ports); n <= len(l.fails) {
		return nil, results.Failf(l.fails[n-1], "start %d", n)
	}

	return nil, nil
}

// A port that somebody takes between the choice and the bind leads to another
// one, the launcher's default too; one that the scenario names stays.
func TestPortTakenMeanwhile(t *testing.T) {
	t.Parallel()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	taken := socket.Addr().(*net.TCPAddr).Port
	inUse, foreign, other := results.FailPortInUse, results.FailForeign, results.FailExited

	for _, c := range []struct {
		name  string
		fails []results.FailureClass
		fixed bool
		tries int
		fine  bool
	}{
		{"free", nil, false, 1, true},
		{"taken before the bind", []results.FailureClass{inUse}, false, 2, true},
		{"a stranger answers", []results.FailureClass{foreign, inUse}, false, 3, true},
		{"again and again", []results.FailureClass{inUse, inUse, inUse, inUse}, false, portTries, false},
		{"another failure", []results.FailureClass{other}, false, 1, false},
		{"the scenario names the port", []results.FailureClass{inUse}, true, 1, false},
	} {
		launcher := &recorded{fails: c.fails}
		spec := recipe.Spec{Host: "127.0.0.1", Port: taken}
		_, port, err := (&Starter{Launcher: launcher}).launchOnPort(t.Context(), engines.Kind{}, spec, c.fixed,
			[]int{taken + 1}, nil)
		if len(launcher.ports) != c.tries || (err == nil) != c.fine {
			t.Errorf("%s: ports %v, %v, want %d tries, fine %v", c.name, launcher.ports, err, c.tries, c.fine)
		}
		if distinct := slices.Compact(slices.Clone(launcher.ports)); len(distinct) != len(launcher.ports) ||
			port != launcher.ports[len(launcher.ports)-1] {
			t.Errorf("%s: ports %v, said %d, want another one each time", c.name, launcher.ports, port)
		}
		if last := launcher.ports[len(launcher.ports)-1]; last > taken+portTries*(portSpread+10) {
			t.Errorf("%s: ports %v go far above %d", c.name, launcher.ports, taken)
		}
		if !c.fixed && (slices.Contains(launcher.ports, taken) || slices.Contains(launcher.ports, taken+1)) {
			t.Errorf("%s: ports %v hold one that is taken", c.name, launcher.ports)
		}
	}
}

// Programs that lose the same port to somebody do not all go to the next one.
func TestPortsPart(t *testing.T) {
	t.Parallel()
	next := map[int]bool{}
	for range 50 {
		launcher := &recorded{fails: []results.FailureClass{results.FailForeign}}
		spec := recipe.Spec{Host: "127.0.0.1", Port: 20000}
		_, port, err := (&Starter{Launcher: launcher}).launchOnPort(t.Context(), engines.Kind{}, spec, false, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		next[port] = true
	}
	if len(next) < 10 {
		t.Errorf("50 programs went to ports %v, want them apart", next)
	}
}
