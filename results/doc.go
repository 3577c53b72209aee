// Package results holds the values that lie in a run folder: the manifest,
// journal events, records of single requests, results of steps, warning and
// failure codes.
//
// What goes in: nothing. What comes out: types, their JSON names and what
// their values mean. It reads and writes no file (package store does), and
// imports nothing of ours.
package results

// FormatVersion is the version of every file this package writes. A reader
// refuses a folder with a newer version and says so.
const FormatVersion = 1
