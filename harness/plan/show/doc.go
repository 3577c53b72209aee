// Package show prints a plan for people, in short or in full, and says before a
// run what will limit the trust in its figures.
//
// A scenario and its plan go in, text comes out. It plans nothing and looks at
// nothing but its arguments.
package show
