// Package page draws a run as one HTML page that needs nothing else: no
// network, no other file, and no script to be read.
//
// What goes in: a results.Run as read from its folder, and the records,
// telemetry and logs that lie there. What comes out: report.html, the same
// bytes for the same folder. It computes no figures (package metrics does) and
// draws no charts (package chart does). Everything that others wrote is
// escaped; the page's policy forbids all scripts and styles but its own.
package page
