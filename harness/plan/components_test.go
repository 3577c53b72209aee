package plan_test

import (
	"testing"

	"github.com/benchrig/bench/harness/plan"
	"github.com/benchrig/bench/scenarios/parse"
)

// Requests ask a router for the model by the name under which its parts serve it.
func TestRouterHasTheNameOfItsParts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ keys, want string }{
		"alias of a file": {"launcher: llamacpp\n  model: /models/tiny-f16.gguf", "tiny-f16"},
		"name of a model": {"launcher: vllm\n  model: org/tiny", "org/tiny"},
		"named":           {"launcher: llamacpp\n  model: /models/tiny.gguf\n  served-name: mine", "mine"},
	} {
		sc, err := parse.Source("s.yaml", []byte(`schema: 1
name: s
variants:
- name: v
  `+c.keys+`
  components:
  - {name: a}
  - {name: router, launcher: command, command: [proxy, "${a.url}", "${port}"]}
load: {dataset: {kind: random}, input-len: 8, output-len: 8, num-prompts: 1}
`), parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		all, _, err := plan.Recipes(sc, sc.Variants[0], plan.Machine{})
		if err != nil || len(all) != 2 {
			t.Fatalf("%s: %d recipes, %v", name, len(all), err)
		}
		router := all[1]
		if got := router.Kind.API.ServedName(router.Spec); got != c.want {
			t.Errorf("%s: the router's model is %q, want %q", name, got, c.want)
		}
	}
}
