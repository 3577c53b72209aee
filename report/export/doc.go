// Package export writes the figures of a run for other programs.
//
// Runs go in; CSV, JSON and the lines of Go's benchstat come out, in base units, and
// empty where a figure is not known. It computes and ranks nothing.
package export
