// Package report prints runs: for terminals, as Markdown and CSV, and in the
// layout of vLLM's result block.
//
// What goes in: a results.Run as read from its folder. What comes out: text
// that is the same for the same folder, on every machine and at any time. It
// computes no figures, hides no failure, and never ranks a failed or doubtful
// step beside sound ones.
package report
