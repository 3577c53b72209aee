package keys

import (
	"strings"
	"time"

	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// Container are the keys of container:.
func Container() schema.Block[scenarios.Container] {
	return schema.Block[scenarios.Container]{
		Name: "under container:",
		Doc: "Runs the launcher's recipe in a container that bench starts, stops, removes and proves gone. Model, " +
			"args and env are those of the server.",
		Example: `
image: rocm/vllm:latest
engine: docker
mounts: ["/models:/models:ro"]
ipc: private
shm-size: 64GiB
`,
		Fields: []schema.Field[scenarios.Container]{
			schema.FreeKey("image", "Image to run. Setting it runs the server in a container.",
				schema.Simple(schema.TextShape),
				readImage).DefaultNote("no container"),
			schema.EnumKey("engine", "Program that runs it.",
				container.EngineNames(),
				func(c *scenarios.Container) *string { return &c.Engine }).
				DefaultNote("docker or podman, whichever answers"),
			schema.TextKey("gpus", "Value of --gpus for NVIDIA: all, none, or as docker takes it.",
				func(c *scenarios.Container) *string { return &c.GPUs }).DefaultNote("those of the server"),
			schema.TextsKey("devices", "Values of --device.",
				func(c *scenarios.Container) *[]string { return &c.Devices }).
				DefaultNote("on AMD /dev/kfd and /dev/dri"),
			schema.TextsKey("mounts", "Values of -v; a source that starts with ./ or ../ is relative to the scenario "+
				"file.",
				func(c *scenarios.Container) *[]string { return &c.Mounts }),
			schema.TextKey("ipc", "Value of --ipc.", func(c *scenarios.Container) *string { return &c.IPC }).Or("host"),
			schema.SizeTextKey("shm-size", "Value of --shm-size; not with ipc host.",
				func(c *scenarios.Container) *string { return &c.ShmSize }),
			schema.TextKey("network", "Value of --network.",
				func(c *scenarios.Container) *string { return &c.Network }).Or("host"),
			schema.ArgvKey("command", "Program and leading arguments within the image, instead of its entry point.",
				func(c *scenarios.Container) *[]string { return &c.Command }),
			schema.TextsKey("args", "Further arguments of the engine's run command, placed before the image.",
				func(c *scenarios.Container) *[]string { return &c.Args }),
			schema.SizeTextKey("max-log", "Size at which the engine rotates the container's own log.",
				func(c *scenarios.Container) *string { return &c.MaxLog }).Or("256MiB"),
			schema.TextKey("cache", "Folder of this machine, relative to the scenario file, for what the engine keeps "+
				"between starts: models of a hub, compiled kernels. Its subfolders, such as huggingface and vllm, are "+
				"made where they are missing. They are mounted where the engine's image looks for them; engines "+
				"without a daemon show the folder and set variables such as HF_HOME.",
				func(c *scenarios.Container) *string { return &c.Cache }).
				DefaultNote("none: each start downloads again"),
			schema.DurationKey("pull-timeout", "Time limit of the image download, which does not count as part of "+
				"the server's start.", func(c *scenarios.Container) *time.Duration { return &c.Pull }).Or("2h"),
		},
	}
}

func readImage(r *schema.Reader, n *schema.Node, c *scenarios.Container) {
	s, ok := r.Text(n)
	if ok && (s == "" || strings.HasPrefix(s, "-") || strings.ContainsAny(s, " \t\r\n\x00")) {
		r.Fail(n.Pos, "image is %s, expected a name such as rocm/vllm:latest", n.Shown())
		return
	}
	c.Image = s
}
