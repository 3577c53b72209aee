package launchers

import (
	"slices"
	"testing"

	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/recipe"
)

// A container has files of its own, and shares ports where it is on the machine's
// network.
func TestPrivateSettingsInContainers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, network string
		env, arg      string // that the container gets; "": none
	}{
		{"vllm", "", "VLLM_PORT", ""},
		{"vllm", "bridge", "", ""},
		{"tgi", "host", "MASTER_PORT", ""},
		{"sglang", "host", "", "--nccl-port"},
		{"sglang", "bridge", "", ""},
	} {
		kind, _ := engines.Lookup(c.kind)
		s := spawner{started: &started{kind: kind, spec: recipe.Spec{
			Model: "m", Replicas: 2, Port: 8000, Container: container.Options{Image: "i", Network: c.network},
		}}}
		job := container.Job{Argv: []string{"serve"}, Env: map[string]string{"A": "1"}}
		if err := s.addPrivate(t.Context(), &job); err != nil {
			t.Fatal(err)
		}
		if s.private != "" {
			t.Errorf("%s on network %q: a folder of this machine: %s", c.kind, c.network, s.private)
		}
		if _, set := job.Env[c.env]; c.env != "" && !set || c.env == "" && len(job.Env) != 1 {
			t.Errorf("%s on network %q: environment %v, want %q", c.kind, c.network, job.Env, c.env)
		}
		if got := len(job.Argv) > 1; got != (c.arg != "") || got && !slices.Contains(job.Argv, c.arg) {
			t.Errorf("%s on network %q: argv %q, want %q", c.kind, c.network, job.Argv, c.arg)
		}
	}
}

// What the recipe sets by hand is not set again.
func TestPrivateSettingsYieldToTheRecipe(t *testing.T) {
	t.Parallel()
	kind, _ := engines.Lookup("tgi")
	spec := recipe.Spec{Model: "m", Port: 8000, Env: map[string]string{"MASTER_PORT": "29600"}}
	s := spawner{started: &started{kind: kind, spec: spec}}
	own, err := s.privateSettings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, set := own.Env["MASTER_PORT"]; set || own.Env["SHARD_UDS_PATH"] == "" || s.private == "" {
		t.Errorf("settings = %v with folder %q, want the sockets' alone", own.Env, s.private)
	}
}
