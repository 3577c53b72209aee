// Package telemetry turns readings of GPUs and of the host into figures.
//
// What goes in: the samples of a pass and the devices of its servers. What
// comes out: memory, power, energy and throttling of each GPU and of all, the
// warnings about them, and the curves to draw. It reads no device, no file and
// no clock, and never puts a number where nothing was read.
package telemetry
