package calibrate

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// feederEnv makes the test binary serve as feeder.
const feederEnv = "BENCH_TEST_FEEDER"

func TestMain(m *testing.M) {
	if os.Getenv(feederEnv) != "" {
		if err := Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if os.Getenv(clientEnv) != "" && len(os.Args) == 3 {
		streams, err := strconv.Atoi(os.Args[2])
		if err = errors.Join(err, playClient(os.Args[1], streams)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func testFeeder(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), feederEnv+"=1", "GOMAXPROCS=1")
	cmd.Stderr = os.Stderr
	return cmd
}
