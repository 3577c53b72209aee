package hooks

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/benchrig/bench/launchers/process"
)

func TestMain(m *testing.M) {
	if err := process.BecomeSubreaper(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}
