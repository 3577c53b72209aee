// Package keys describes the blocks of a scenario file on which no other key bears:
// price, container, simulate.
//
// What goes in: nothing. What comes out: tables of keys for package schema to read
// with. It compares no key with another; scenarios/parse does.
package keys
