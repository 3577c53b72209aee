package engines

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/recipe"
)

func TestDownloads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, launcher, model string
		options               container.Options
		env                   map[string]string
		warns                 bool
	}{
		{"nothing is kept", "vllm", "org/m", container.Options{}, nil, true},
		{"docker by name", "sglang", "org/m", container.Options{Engine: "docker"}, nil, true},
		{"a cache", "vllm", "org/m", container.Options{Cache: "/c"}, nil, false},
		{"a mount", "vllm", "org/m", container.Options{Mounts: []string{"hub:/root/.cache/huggingface"}}, nil, false},
		{"a mount above", "tgi", "org/m", container.Options{Mounts: []string{"/d:/data:rw"}}, nil, false},
		{"a mount elsewhere", "tgi", "org/m", container.Options{Mounts: []string{"/d:/models"}}, nil, true},
		{
			"a mount that a variable names", "vllm", "org/m",
			container.Options{Mounts: []string{"/d:/hub"}},
			map[string]string{"HF_HOME": "/hub"},
			false,
		},
		{"a folder of this machine", "vllm", "/models/m", container.Options{}, nil, false},
		{"the user's home is seen within", "vllm", "org/m", container.Options{Engine: "apptainer"}, nil, false},
		{"no home within", "vllm", "org/m", container.Options{Engine: "enroot"}, nil, true},
		{"no model of a hub", "command", "m", container.Options{}, nil, false},
	} {
		kind, _ := Lookup(c.launcher)
		c.options.Image = "image:1"
		text := Downloads(kind, recipe.Spec{Launcher: c.launcher, Model: c.model, Container: c.options, Env: c.env})
		if got := strings.Contains(text, "downloads org/m again"); got != c.warns {
			t.Errorf("%s: Downloads() = %q, want a warning: %t", c.name, text, c.warns)
		}
	}
}
