package chart

import (
	"html/template"

	"benchrig/metrics"
)

// CDFSpec overlays cumulative distributions.
type CDFSpec struct {
	Head
	X      Axis
	Series []CDFSeries
}

// CDFSeries is one distribution, given by one of Values and Vertices.
type CDFSeries struct {
	Name     string
	Slot     int                 // 1 to 8: colour and dash; 0: by position
	Values   []float64           // ascending; reduced to at most metrics.MaxCDFVertices
	Vertices []metrics.CDFVertex // of a distribution that was reduced before
	N        int                 // number of values behind Vertices
}

// CDF draws shares of values at or below each value.
func CDF(s CDFSpec) (template.HTML, error) {
	c := newCanvas(720, 320)
	return c.drawing(s.Head, "cdf", nil)
}
