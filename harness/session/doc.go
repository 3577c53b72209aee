// Package session is one run on this machine, from the scenario to the finished
// results folder: what run, resume, reproduce and a cluster's job share.
//
// A scenario and what the process was given go in. The machine is looked at, a
// plan is made, the machine is taken for the run alone, earlier leftovers are
// removed, and the plan is carried out into a folder. It wires packages
// together; how the run is shown is decided by the caller.
package session
