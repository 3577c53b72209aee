// Package serverlog follows the log file of a server.
//
// What goes in: a file that grows, and the lines that matter for a kind of
// server. What comes out: the first fatal line and its cause, what the start
// took and found (Facts), counts of speculative decoding, and the lines worth
// showing. What it keeps and what one reading costs is bounded. It decides
// nothing: whether a server has failed is its caller's to say.
package serverlog
