package parse_test

import (
	"testing"

	"github.com/benchrig/bench/profiles"
	"github.com/benchrig/bench/scenarios/parse"
)

func TestEveryProfileIsALoad(t *testing.T) {
	for _, name := range profiles.Names() {
		src := "schema: 1\nserver: {launcher: simulator}\nload: {profile: " + name + "}\n"
		s, err := parse.Source("a.yaml", []byte(src), parse.Options{
			Profile:  profiles.Lookup,
			Profiles: profiles.Names(),
		})
		if err != nil {
			t.Errorf("profile %s: %v", name, err)
			continue
		}
		if len(s.Warnings) > 0 {
			t.Errorf("profile %s: warnings %q, want none", name, s.Warnings)
		}
	}
}
