package profiles

import (
	"slices"
	"testing"

	"gopkg.in/yaml.v3"
)

func TestEveryNameIsFoundAndParses(t *testing.T) {
	names := Names()
	if len(names) < 5 || !slices.IsSorted(names) {
		t.Fatalf("Names() = %q, want at least 5, sorted", names)
	}
	for _, name := range names {
		src, ok := Lookup(name)
		if !ok {
			t.Errorf("Lookup(%q) = not found, want the profile", name)
			continue
		}
		var block map[string]any
		if err := yaml.Unmarshal(src, &block); err != nil || len(block) == 0 {
			t.Errorf("profile %s = %v, %v, want a mapping of load keys", name, block, err)
		}
		if _, nested := block["profile"]; nested {
			t.Errorf("profile %s names another profile", name)
		}
	}
}

func TestLookupRefuses(t *testing.T) {
	for _, name := range []string{"", "nope", "../profiles/code", "code.yaml", "."} {
		if src, ok := Lookup(name); ok {
			t.Errorf("Lookup(%q) = %q, want not found", name, src)
		}
	}
}
