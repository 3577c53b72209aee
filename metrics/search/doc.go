// Package search looks for the highest load that meets a condition.
//
// What goes in: the policy and the results so far. What comes out: the next
// load to try, or the conclusion. It starts nothing.
package search
