// Package vram proves that the video memory of a server is back after its end.
//
// What goes in: readings of memory and its holders, and the ids of devices. What
// comes out: a Claim with the memory in use before the start, and after the end a
// results.VRAMProof of each device or the failure that says who holds what. It
// reads no GPU itself, starts nothing, and ends nobody but through the function
// that its caller gives it.
package vram
