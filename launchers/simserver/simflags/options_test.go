package simflags

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// Launcher simulator refuses options that are not among these.
func TestOptionsAreThoseOfTheLauncher(t *testing.T) {
	t.Parallel()
	var c simengine.Config
	fs := pflag.NewFlagSet("simulate", pflag.ContinueOnError)
	Register(fs, &c)
	var names []string
	fs.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	listed := strings.Fields(engines.SimulatorOptions)
	slices.Sort(listed)
	if diff := cmp.Diff(names, listed); diff != "" {
		t.Errorf("engines.SimulatorOptions (-the simulator has +listed):\n%s", diff)
	}
}
