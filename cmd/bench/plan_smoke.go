package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/scenarios"
)

// printSmoke shows the request that must succeed on a server of a variant
// before anything is measured; nothing where there is none.
func printSmoke(w io.Writer, sc *scenarios.Scenario, variant string) {
	for _, v := range sc.Variants {
		if v.Name != variant || v.Server.Smoke.Path == "" {
			continue
		}
		body, err := json.Marshal(v.Server.Smoke.Body)
		if err != nil {
			body = []byte("a body that is no JSON")
		}
		fmt.Fprintf(w, "  smoke: POST %s %s\n", v.Server.Smoke.Path, recipe.Redactor(sc.Secrets)(string(body)))
	}
}
