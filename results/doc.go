// Package results is the format on disk: the run folder, its append-only
// journal, the records of single requests, the result of a step, and the
// reader that turns a folder back into values.
//
// What goes in: events and records as they happen. What comes out: files that
// are complete or absent (written beside their place, synced, renamed), and a
// journal that is the truth about what happened. It computes no figures, knows
// no server and no scenario, and imports nothing of ours.
package results

// FormatVersion is the version of every file this package writes. A reader
// refuses a folder with a newer version and says so.
const FormatVersion = 1
