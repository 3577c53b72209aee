// Package compare says whether figures of two sides differ.
//
// What goes in: results of steps, grouped by variant and load point, one value
// per server start. What comes out: differences with intervals, tests and a
// verdict. It reads no file and no clock, and never calls something a
// difference that the values do not show.
package compare
