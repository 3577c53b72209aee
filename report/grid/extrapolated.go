package grid

const (
	ExtrapolatedMark   = "#"
	ExtrapolatedLegend = ExtrapolatedMark +
		" extrapolated: one replica ran with its share of the load, and its rates are multiplied; never ranked"
)
