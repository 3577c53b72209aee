package importer

import (
	"testing"

	"github.com/benchrig/bench/internal/importer/labels"
	"github.com/benchrig/bench/metrics/catalog"
)

// What metrics of other tools stand for are figures that there are.
func TestToolMetricsAreFigures(t *testing.T) {
	names := map[string]string{}
	for key, m := range perfMetrics() {
		names[key] = m.name
	}
	for key, m := range guideMetrics() {
		names[key] = m.name
	}

	for key, name := range names {
		if labels.FigureNamed(name) {
			continue
		}
		if _, err := catalog.Find("mean_" + name + "_s"); err != nil {
			t.Errorf("%s is %q, which is neither a figure nor a sample", key, name)
		}
	}
}
