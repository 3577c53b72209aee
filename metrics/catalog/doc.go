// Package catalog names the figures that tables, CSV files and conditions show.
//
// What goes in: results of steps. What comes out: the list of figures that
// they have, each with its name, title, unit, direction and the way to read
// it. It computes no statistics and compares nothing.
package catalog
