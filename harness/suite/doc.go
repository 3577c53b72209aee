// Package suite plans a fixed set of rounds against a server that runs
// already, and writes the files and the table that they come to.
//
// What goes in: load profiles, the server's longest context, and the result of
// each round. What comes out: rounds, texts and JSON. It sends nothing, starts
// nothing and writes no file.
package suite

import "slices"

// Text and Vision are the profiles of the two suites.
func Text() []string { return []string{"high", "mid", "low"} }

// Vision is Text with an image for each request.
func Vision() []string { return []string{"vision-a", "vision-b"} }

// IsVision reports whether a profile has images.
func IsVision(profile string) bool { return slices.Contains(Vision(), profile) }
