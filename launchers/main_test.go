package launchers

import (
	"testing"

	"go.uber.org/goleak"

	"benchrig/internal/fakeengine"
	"benchrig/launchers/process"
)

func TestMain(m *testing.M) {
	fakeengine.Main()
	if err := process.BecomeSubreaper(); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
