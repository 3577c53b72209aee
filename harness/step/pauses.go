package step

import (
	"context"
	"fmt"
	"time"

	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/results"
)

// NoticePauses watches for time in which this program does not run. The returned
// function ends that, and adds a warning to a result that a pause ran through.
func NoticePauses(ctx context.Context) (warn func(*results.Result)) {
	ctx, end := context.WithCancel(ctx)
	watch := awake.Notice(ctx)
	return func(result *results.Result) {
		lost := watch.Lost()
		end()
		if why := DescribePause(lost); why != "" {
			result.Warnf(results.WarnPaused,
				"%s during the step: latencies, rates and timeouts of that time are not the server's", why)
		}
	}
}

// DescribePause words a pause; "" if there was none.
func DescribePause(lost awake.Lost) string {
	switch {
	case lost.Asleep > 0 && lost.Stopped > 0:
		return fmt.Sprintf("the machine slept for %s, and bench was stopped for %s", rounded(lost.Asleep),
			rounded(lost.Stopped))
	case lost.Asleep > 0:
		return fmt.Sprintf("the machine slept for %s", rounded(lost.Asleep))
	case lost.Stopped > 0:
		return fmt.Sprintf("bench was stopped for %s", rounded(lost.Stopped))
	default:
		return ""
	}
}

func rounded(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }
