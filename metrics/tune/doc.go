// Package tune looks for the best of many variants by successive halving.
//
// What goes in: a policy and the results so far. What comes out: which variants a
// round measures, and the recipe with its evidence. It starts nothing.
package tune
