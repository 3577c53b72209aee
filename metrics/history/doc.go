// Package history follows figures over runs: the same variant and load point,
// measured again as versions and days go by.
//
// What goes in: runs, in any order. What comes out: for each variant, load point
// and figure the values in order of time, and the places at which their level
// changed, each with its interval, its test and what is recorded to differ there.
// It reads no file and no clock, and joins no values that were measured under
// different loads.
package history
