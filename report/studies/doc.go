// Package studies draws the tables that a scenario or a user asks for by name.
//
// A run goes in; pieces of tables and text come out: repeats, concurrency,
// sizes, backends, the two passes of sqzb, speculative decoding, llama-bench,
// searches, and each step as vLLM's client prints it. It computes no figure.
package studies
