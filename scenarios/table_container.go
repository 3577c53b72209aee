package scenarios

import "strings"

func containerBlock() block[Container] {
	texts := func(key, doc string, at func(*Container) *[]string) field[Container] {
		return freeKey(key, doc, listOf(simple(textShape)), func(r *reader, n *node, c *Container) {
			if words, ok := r.texts(n); ok {
				*at(c) = words
			}
		})
	}
	return block[Container]{
		name: "under container:",
		doc: "Runs the launcher's recipe in a container of its own, which bench starts, stops, removes and proves gone. " +
			"Model, args and env are those of the server.",
		example: `
image: rocm/vllm:latest
engine: docker
mounts: ["/models:/models:ro"]
ipc: private
shm-size: 64GiB
`,
		fields: []field[Container]{
			freeKey("image", "Image to run; makes the server a container.", simple(textShape), readImage).elseNote("no container"),
			enumKey("engine", "Program that runs it.", []string{"docker", "podman"}, func(c *Container) *string { return &c.Engine }).elseNote("whichever answers"),
			textKey("gpus", "Value of --gpus for NVIDIA: all, none, or as docker takes it.", func(c *Container) *string { return &c.GPUs }).elseNote("those of the server"),
			texts("devices", "Values of --device.", func(c *Container) *[]string { return &c.Devices }).elseNote("on AMD /dev/kfd and /dev/dri"),
			texts("mounts", "Values of -v; a source that starts with ./ or ../ is relative to the scenario file.", func(c *Container) *[]string { return &c.Mounts }),
			textKey("ipc", "Value of --ipc.", func(c *Container) *string { return &c.IPC }).or("host"),
			sizeTextKey("shm-size", "Value of --shm-size; not with ipc host.", func(c *Container) *string { return &c.ShmSize }),
			textKey("network", "Value of --network.", func(c *Container) *string { return &c.Network }).or("host"),
			argvKey("command", "Program and leading arguments within the image, in place of its entry point.", func(c *Container) *[]string { return &c.Command }),
			texts("args", "Further arguments of run, before the image.", func(c *Container) *[]string { return &c.Args }),
			sizeTextKey("max-log", "Size at which the engine rotates the container's own log.", func(c *Container) *string { return &c.MaxLog }).or("256MiB"),
		},
	}
}

func readImage(r *reader, n *node, c *Container) {
	s, ok := r.text(n)
	if ok && (s == "" || strings.HasPrefix(s, "-") || strings.ContainsAny(s, " \t\r\n\x00")) {
		r.fail(n.pos, "image is %s, expected a name such as rocm/vllm:latest", n.shown())
		return
	}
	c.Image = s
}
