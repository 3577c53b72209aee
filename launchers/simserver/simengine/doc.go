// Package simengine models an inference engine: it batches continuously, keeps
// KV blocks, caches prefixes, preempts and speculates, but computes nothing.
// Times come from a cost model (speed.go), tokens from a seeded generator.
//
// What goes in: Settings, which a Config resolves to, and sequences of token ids.
// What comes out: streams of tokens in real time, gauges and counters. It opens
// no socket and writes no log; the parent package is its HTTP front.
package simengine
