// Package keys describes the blocks of a scenario file that no other key affects:
// price, container, simulate, slurm, client, load.early.
//
// What goes in: nothing. What comes out: tables of keys for package schema to read
// with. It compares no key with another; scenarios/parse does.
package keys
