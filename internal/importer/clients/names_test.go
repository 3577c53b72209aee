package clients

import (
	"testing"

	"github.com/benchrig/bench/internal/importer/labels"
	"github.com/benchrig/bench/metrics/catalog"
)

// What metrics of other tools stand for are figures that there are.
func TestToolMetricsAreFigures(t *testing.T) {
	names := perfMetrics()
	for key, m := range guideMetrics() {
		names[key] = m.figure
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
