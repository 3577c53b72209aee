// Package detail prints the report of one step.
//
// A run and the id of a step go in; text for a terminal comes out: the result
// block in the layout of vLLM's clients, failures, load, servers, GPUs, cost,
// and the readings of vLLM's clients beside ours. It computes no figure.
package detail
