package plan

import (
	"strconv"
	"strings"
	"time"

	"github.com/benchrig/bench/results"
)

// StartTimes are the seconds that the last launches of a plan's variants took,
// by the journal of a run of such a plan.
func (p *Plan) StartTimes(events []results.Event) map[string]float64 {
	variant := map[string]string{} // by life
	for _, life := range p.Lives {
		variant[life.ID] = life.Variant
	}

	spawned, took := map[string]time.Time{}, map[string]float64{}
	for _, e := range events {
		id, number, again := strings.Cut(e.Life, ".") // "01-a.2" is the second of that name
		if _, err := strconv.Atoi(number); again && err != nil || variant[e.Life] != "" {
			id = e.Life
		}
		switch e.Kind {
		case results.LifeSpawned:
			if e.Replica == 0 {
				spawned[e.Life] = e.Time
			}
		case results.LifeReady:
			if began, ok := spawned[e.Life]; ok && variant[id] != "" {
				took[variant[id]] = e.Time.Sub(began).Seconds() // of all replicas, up to the last one
			}
		default: // tells nothing of a start
		}
	}

	return took
}
