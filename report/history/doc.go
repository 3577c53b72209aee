// Package history shows figures over runs.
//
// What goes in: series of package metrics/history. What comes out: tables for a
// terminal or as Markdown, CSV, and a page with charts. It computes nothing.
package history
