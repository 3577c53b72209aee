// Package jsonschema has the JSON Schemas (draft 2020-12) of the files in a run
// folder that other programs read.
//
// What goes in: the name of a file's kind. What comes out: its schema. Each is
// made from the Go types of package results and from docs/results-format.md by
// this package's test, which fails where one of them has changed and the schema
// has not. The package computes nothing and reads no file.
package jsonschema

import (
	_ "embed" // the schemas
	"fmt"
	"strings"
)

// The schemas, as the test writes them.
var (
	//go:embed result.schema.json
	result []byte
	//go:embed request.schema.json
	request []byte
	//go:embed manifest.schema.json
	manifest []byte
	//go:embed event.schema.json
	event []byte
)

// Kind is a kind of file that has a schema.
type Kind struct {
	Name   string // "result"
	File   string // where it is: "result.json"
	Schema []byte // JSON, indented
}

// kindNames are all, those first that are asked for most.
func kindNames() []Kind {
	return []Kind{
		{"result", "result.json", result},
		{"request", "a line of requests.jsonl.zst", request},
		{"manifest", "manifest.json", manifest},
		{"event", "a line of journal.jsonl", event},
	}
}

// Names are the names of all kinds.
func Names() (names []string) {
	for _, k := range kindNames() {
		names = append(names, k.Name)
	}
	return names
}

// Named is the schema of a kind.
func Named(name string) ([]byte, error) {
	for _, k := range kindNames() {
		if k.Name == name {
			return k.Schema, nil
		}
	}
	return nil, fmt.Errorf("unknown kind of file %q: want %s", name, strings.Join(Names(), ", "))
}
