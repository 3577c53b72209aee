// Package differences draws comparisons: the variants of a run against its
// baseline, runs against each other, a reproduction against its origin.
//
// What metrics/versus judged goes in; text, Markdown or JSON comes out. It
// judges nothing.
package differences
