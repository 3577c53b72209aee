// Package grid lays the figures of a run out as tables of one row for each
// variant at each load point.
//
// A run goes in; tables come out, with the marks that a figure carries, the
// best of each load point, and a legend. It computes no figure and prints
// nothing.
package grid
