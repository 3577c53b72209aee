package scenarios

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/scenarios/schema"
)

// files are the scenarios that come with bench, "quickstart.yaml" and others.
//
//go:embed *.yaml
var files embed.FS

// TemplateKinds are the launchers that have a starter scenario.
func TemplateKinds() []string {
	kinds := Launchers()
	slices.Sort(kinds)
	return kinds
}

// ImageKinds are the launchers whose starter scenario can run an image.
func ImageKinds() []string {
	return slices.DeleteFunc(TemplateKinds(), func(name string) bool {
		kind, _ := engines.Lookup(name)
		return kind.Image.Name == ""
	})
}

// ExampleNames are the scenarios that come with bench, without their endings.
func ExampleNames() []string {
	entries, _ := files.ReadDir(".") // embedded: it is there
	var names []string
	for _, entry := range entries {
		names = append(names, strings.TrimSuffix(entry.Name(), ".yaml"))
	}
	return names
}

// Template is the commented starter scenario for a launcher, whose server is in
// a container if image says so, or the scenario of that name that comes with bench. It
// validates as it is.
func Template(kind string, image bool) ([]byte, error) {
	among := TemplateKinds()
	if image {
		among = ImageKinds()
	}
	if text, err := files.ReadFile(kind + ".yaml"); err == nil && !image {
		return text, nil
	}
	if !slices.Contains(among, kind) {
		hint := ""
		if near := schema.Suggest(kind, slices.Concat(among, ExampleNames())); near != "" {
			hint = fmt.Sprintf(", did you mean %q?", near)
		}
		if !image {
			among = slices.Concat(among, ExampleNames())
		}
		return nil, fmt.Errorf("no template %q: there are %s%s", kind, strings.Join(among, ", "), hint)
	}

	known, _ := engines.Lookup(kind)
	if image {
		return []byte(known.TemplateInImage()), nil
	}
	return []byte(known.Template), nil
}
