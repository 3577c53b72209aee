package cluster

import (
	"context"
	"maps"
	"slices"

	"github.com/benchrig/bench/report/live"
	"github.com/benchrig/bench/results/store"
)

// LiveJobs asks the cluster for the jobs of a run, for those who follow it; nil for
// a run that has none.
func LiveJobs(ctx context.Context, c Cluster) (func() *live.Jobs, error) {
	run, err := store.Read(c.Folder.Dir())
	if err != nil || len(run.Manifest.Groups) == 0 {
		return nil, err
	}

	c.Run = run.Manifest.Run
	return func() *live.Jobs {
		jobs, err := c.Jobs(ctx)
		counts := live.Jobs{Err: err}
		waiting := map[string]int{}
		for _, job := range jobs {
			if job.Running() {
				counts.Running++
				continue
			}
			counts.Queued++
			waiting[job.Reason]++
		}
		counts.Waiting = append(counts.Waiting, slices.Sorted(maps.Keys(waiting))...)
		return &counts
	}, nil
}
