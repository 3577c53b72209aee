// Package versus sets runs and variants beside each other and judges them.
//
// Runs go in, as read from their folders. Out come the pairs of a candidate
// and its baseline at each load point, what differs in their configuration and
// machines, verdicts on every figure, the variant that leads, conditions that
// hold, and how a reproduction agrees with its origin. It draws nothing, and
// never compares what differs in kind.
package versus
