// Package keys describes the keys of a scenario file: one table for each block,
// with the name, the meaning, the shape and the default of each key, and how its
// value is read.
//
// What goes in: nothing. What comes out: tables for package schema to decode with,
// and to make the JSON Schema and the reference of. It compares no key with
// another; scenarios/parse does.
package keys
