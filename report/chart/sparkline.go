package chart

import "html/template"

// SparklineSpec is a line the size of a word.
type SparklineSpec struct {
	Head
	Values    []float64 // NaN: a gap
	Low, High []float64 // intervals, in step with Values; empty: none
	Unit      Unit
	Slot      int // 1 to 8: colour; 0: the first
}

// Sparkline draws values without axes, the last one marked.
func Sparkline(s SparklineSpec) (template.HTML, error) {
	c := newCanvas(120, 24)
	return c.drawing(s.Head, "sparkline", nil)
}
