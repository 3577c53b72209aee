// Package metrics turns the records of a pass into figures.
//
// What goes in: results.Record values and the few facts that records do not
// hold (the window, the goals, the load asked for). What comes out: figures,
// warnings and a verdict, the same for the same input. It reads no file and no
// clock, and never puts a number where nothing was measured. The definitions
// are in docs/metrics.md.
package metrics
