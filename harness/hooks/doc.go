// Package hooks runs what a scenario puts around the measuring: commands and
// HTTP calls, checks of the machine, notifications, and the undoing of what a
// command changed.
//
// What goes in: a hook, a check or a notification of package scenarios, and
// BENCH_* variables. What comes out: a results.HookRecord. It builds no shell
// string, lets nothing outlive its time limit, and keeps secrets out of its
// records.
package hooks
