// Package curves prepares what charts draw.
//
// What goes in: records, and the journal of a run. What comes out: spans,
// levels over time, distributions and a choice of requests, in memory that
// does not grow with the records. It draws nothing.
package curves
