package launchers

import (
	"flag"
	"testing"

	"go.uber.org/goleak"

	"github.com/benchrig/bench/internal/fakecontainer"
	"github.com/benchrig/bench/internal/fakeengine"
	"github.com/benchrig/bench/launchers/process"
)

func TestMain(m *testing.M) {
	fakecontainer.Main()
	fakeengine.Main()
	if err := process.BecomeSubreaper(); err != nil {
		panic(err)
	}
	// These tests wait for processes most of the time: more of them than
	// there are cores can run at once.
	flag.Parse()
	if err := flag.Set("test.parallel", "12"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
