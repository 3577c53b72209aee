// Package simserver simulates an inference server: a real HTTP server in front
// of a modelled engine (package simengine), which computes nothing.
//
// What goes in: a Config, usually from flags spelled like vLLM's. What comes
// out: the OpenAI dialect as vLLM (or llama-server) speaks it, metrics, log
// lines, and on demand the faults that real servers show. It never claims to
// be a real engine: its first log line, its version and the owner in its model
// list say that it simulates.
package simserver
