// Package bisect looks for the version with which a figure changed, in a list of
// versions in their order, by a binary search with a sequential test.
//
// What goes in: a policy and the results so far. What comes out: which versions a
// round measures, and where the figure changed or why that cannot be told. It
// starts nothing.
package bisect
