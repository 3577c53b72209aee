package chart

import (
	"html/template"

	"benchrig/metrics"
)

// RequestsSpec shows the requests of a pass over time.
type RequestsSpec struct {
	Head
	Rows  []metrics.RequestSpan // drawn in the order given; reduced to metrics.MaxRequestRows
	Total int                   // requests that Rows were chosen from; 0: Rows are all
}

// Requests draws one row a request: waiting for its turn, waiting for the
// first token, receiving tokens.
func Requests(s RequestsSpec) (template.HTML, error) {
	c := newCanvas(720, 320)
	return c.drawing(s.Head, "requests", nil)
}
