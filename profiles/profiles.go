// Package profiles holds named load profiles: what traffic to send.
//
// What goes in: a name. What comes out: YAML whose keys are those of a
// scenario's load: block. It reads no scenario and checks nothing; package
// scenarios lays a scenario's own keys over it.
package profiles

import (
	"embed"
	"path"
	"strings"
)

//go:embed *.yaml
var files embed.FS

// Lookup is the YAML of a profile.
func Lookup(name string) (yaml []byte, ok bool) {
	if name == "" || path.Base(name) != name {
		return nil, false
	}
	yaml, err := files.ReadFile(name + ".yaml")
	return yaml, err == nil
}

// Names are the names of all profiles, sorted.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil // an embedded folder can be read
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".yaml")
	}
	return names
}
