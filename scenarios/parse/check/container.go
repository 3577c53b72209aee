package check

import (
	"path/filepath"
	"strings"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// checkContainer checks container: and makes its paths absolute.
func (c *serverCheck) checkContainer() {
	c.warnOfContainerClient()
	block := c.n.Get("container")
	if c.sv.Container.Image == "" {
		if block != nil && block.Kind == schema.Mapping && len(block.Pairs) > 0 && !block.Has("image") {
			c.errorf(block.Pos, "container needs image, such as rocm/vllm:latest")
		}
		c.sv.Container = scenarios.Container{}
		for path := range c.defaults {
			if strings.HasPrefix(path, "container.") {
				delete(c.defaults, path)
			}
		}
		return
	}

	if c.sv.Kind().Simulated {
		c.errorf(c.n.KeyAt("container"), "launcher simulator does not run in a container")
	}

	c.forbid(c.n, "the program is in the image: use container.command", "binary")
	if c.sv.Container.ShmSize != "" && c.sv.Container.IPC == "host" {
		c.errorf(block.At("shm-size"), "shm-size has no effect with ipc host: write ipc: private beside it")
	}

	for i, mount := range c.sv.Container.Mounts {
		c.sv.Container.Mounts[i] = c.mount(block.Get("mounts").Items[i], mount)
	}

	c.noTilde(block, "cache")
	if c.sv.Container.Cache != "" {
		c.sv.Container.Cache = c.abs(c.sv.Container.Cache)
	}

	if devices := block.Get("devices"); devices != nil && c.sv.Container.Devices == nil {
		c.sv.Container.Devices = []string{}
	}
}

// mount makes the source of a mount absolute where it is a relative path; a
// name without a slash in front is a volume.
func (c *serverCheck) mount(n *schema.Node, mount string) string {
	source, rest, ok := strings.Cut(mount, ":")
	if !ok || source == "" || !strings.HasPrefix(rest, "/") {
		c.errorf(n.Pos, "mount is %s, expected SOURCE:/path/in/container, or with :ro behind it", n.Shown())
		return mount
	}
	if strings.HasPrefix(source, "~") {
		c.errorf(n.Pos, "mount is %s, and ~ is not expanded: write ${env:HOME}/...", n.Shown())
	}
	if source == "." || source == ".." || strings.HasPrefix(source, "./") || strings.HasPrefix(source, "../") {
		return c.abs(source) + ":" + rest
	}
	return mount
}

// warnOfContainerClient: the process that docker run leaves is not the server,
// and ending it does not end the container.
func (c *serverCheck) warnOfContainerClient() {
	for key, argv := range map[string][]string{"command": c.sv.Command, "binary": c.sv.Binary} {
		if client := containerClient(argv); client != "" {
			c.Warnf(c.n.At(key), "%s starts %s, whose process is not the server: what it started may outlive it. "+
				"Write container: {image: ...} beside the engine's own launcher", key, client)
		}
	}
}

// containerClient is the container engine that an argv runs, also through
// sudo; "" if none.
func containerClient(argv []string) string {
	if len(argv) > 0 && filepath.Base(argv[0]) == "sudo" {
		argv = argv[1:]
		for len(argv) > 0 && strings.HasPrefix(argv[0], "-") {
			argv = argv[1:]
		}
	}
	if len(argv) == 0 {
		return ""
	}
	if name := filepath.Base(argv[0]); name == "docker" || name == "podman" {
		return name
	}
	return ""
}
