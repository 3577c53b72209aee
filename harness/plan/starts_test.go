package plan

import (
	"fmt"
	"testing"
	"time"

	"github.com/benchrig/bench/results"
)

func TestStartTimes(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	plan := &Plan{Lives: []Life{{ID: "01-a", Variant: "a"}, {ID: "02-b.5", Variant: "b.5"}}}
	got := plan.StartTimes([]results.Event{
		{Kind: results.LifeSpawned, Life: "01-a", Time: at(10)},
		{Kind: results.LifeReady, Life: "01-a", Time: at(40)},
		{Kind: results.LifeSpawned, Life: "01-a.2", Time: at(100)},
		{Kind: results.LifeReady, Life: "01-a.2", Time: at(120)},
		{Kind: results.LifeSpawned, Life: "02-b.5", Time: at(130)},
		{Kind: results.LifeReady, Life: "02-b.5", Time: at(135)},
		{Kind: results.LifeSpawned, Life: "09-x", Time: at(130)},
		{Kind: results.LifeReady, Life: "09-x", Time: at(135)},
	})
	if fmt.Sprint(got) != "map[a:20 b.5:5]" {
		t.Errorf("StartTimes() = %v, want map[a:20 b.5:5]", got)
	}
}
