package engines

import "github.com/benchrig/bench/launchers/recipe"

// DroppedEnv names the variables of environ that a server of the spec does not
// inherit, because they would silently change it or its recipe removes them.
// Those that the recipe sets are not a loss and not among them.
func DroppedEnv(environ []string, spec recipe.Spec) []string {
	kind, ok := Lookup(spec.Launcher)
	if !ok || kind.External || spec.Container.Contained() { // a container inherits nothing
		return nil
	}
	command, err := kind.Command(spec)
	if err != nil {
		return nil // no server comes of it
	}
	return recipe.Dropped(environ, spec, command)
}
