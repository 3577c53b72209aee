package launchers

import (
	"slices"
	"strings"
)

// DroppedEnv names the variables of environ that a server of the spec does not
// inherit, because they would silently change it or its recipe removes them.
// Those that the recipe sets are no loss and not among them.
func DroppedEnv(environ []string, spec Spec) []string {
	kind, ok := Lookup(spec.Launcher)
	if !ok || kind.External || spec.Container.Image != "" { // a container inherits nothing
		return nil
	}
	command, err := kind.Command(spec)
	if err != nil {
		return nil // no server comes of it
	}
	return dropped(environ, spec, command)
}

func dropped(environ []string, spec Spec, command Command) []string {
	kept, set := environment(environ, spec, command)
	var names []string
	for _, entry := range environ {
		name, _, ok := strings.Cut(entry, "=")
		if _, replaced := set[name]; ok && name != "" && !replaced && !slices.Contains(kept, entry) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
