// Package blame estimates which of the settings in which two variants differ made
// the difference between them.
//
// What goes in: the design of a factorial and the results of its variants. What
// comes out: the effect of each setting and of each two together, with intervals;
// what cannot be separated; which settings servers did not start with. It starts
// nothing.
package blame
