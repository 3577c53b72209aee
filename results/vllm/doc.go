// Package vllm reads and writes a step as vLLM's benchmark client does.
//
// What goes in: results and their records. What comes out: each request as a
// version of that client stores it, and the file that it saves. It computes no
// figures.
package vllm
