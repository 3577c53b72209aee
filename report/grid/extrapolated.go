package grid

// The mark of extrapolated figures.
const (
	ExtrapolatedMark   = "#"
	ExtrapolatedLegend = ExtrapolatedMark +
		" extrapolated: one replica ran with its share of the load, and its rates are multiplied; never ranked"
)
