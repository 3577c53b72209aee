// Package endpoint asks a server questions over HTTP, whoever started it: which
// models it serves, its version and arguments, its metrics, the tokens of a
// text, and to empty its prefix cache.
//
// What goes in: a base URL, a kind of server, a key. What comes out: answers in
// our own terms, or a *results.Failure. It drives no load, starts and stops
// nothing, and goes through no proxy.
package endpoint
