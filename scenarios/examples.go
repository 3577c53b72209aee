package scenarios

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/scenarios/schema"
)

//go:embed *.yaml
var files embed.FS

// Examples are the scenarios that come with bench, "quickstart.yaml" and
// others, in one folder.
func Examples() fs.FS { return files }

// TemplateKinds are the launchers that have a starter scenario.
func TemplateKinds() []string {
	kinds := Launchers()
	slices.Sort(kinds)
	return kinds
}

// Template is the commented starter scenario for a launcher. It validates as
// it is.
func Template(kind string) ([]byte, error) {
	if !slices.Contains(TemplateKinds(), kind) {
		hint := ""
		if near := schema.Suggest(kind, TemplateKinds()); near != "" {
			hint = fmt.Sprintf(", did you mean %q?", near)
		}
		return nil, fmt.Errorf("no template %q: there are %s%s", kind, strings.Join(TemplateKinds(), ", "), hint)
	}
	known, _ := engines.Lookup(kind)
	return []byte(known.Template), nil
}
