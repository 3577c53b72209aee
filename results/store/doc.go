// Package store writes and reads run folders.
//
// What goes in: events, records and results as they happen. What comes out:
// files that are complete or absent (written beside their place, synced,
// renamed), an append-only journal, and Read, which turns a folder back into
// values. It computes no figures and knows no server.
package store
