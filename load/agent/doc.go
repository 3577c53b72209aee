// Package agent spreads the load client over several processes, on other hosts
// as a rule. An agent speaks frames of JSON over one stream of bytes, such as
// the standard input and output of a program that ssh started; no port is
// opened.
//
// What goes in: on one end, streams to agents, options and prompts as package
// load has them; on the other end, the stream to the coordinator. What comes
// out: the records and the report of one client, their times on one clock. It
// starts no process and computes no figures.
//
// A connection goes: hello both ways; then jobs, one after the other. A job
// goes: options and prompts to each agent; exchange of clocks; "armed" from
// all; the common moment to all; records, progress and questions from the
// agents; "done" with the agent's report. "cancel" ends a job early. An agent
// whose stream ends stops at once, and its process with it.
package agent
