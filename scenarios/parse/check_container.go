package parse

import (
	"path/filepath"
	"strings"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// finishContainer checks container: and makes its paths absolute.
func (p *parser) finishContainer(n *schema.Node, sv *scenarios.Server, defaults map[string]string) {
	p.warnOfContainerClient(n, sv)
	c := n.Get("container")
	if sv.Container.Image == "" {
		if c != nil && c.Kind == schema.Mapping && len(c.Pairs) > 0 && !c.Has("image") {
			p.errs.Add(c.Pos, "container needs image, such as rocm/vllm:latest")
		}
		sv.Container = scenarios.Container{}
		for path := range defaults {
			if strings.HasPrefix(path, "container.") {
				delete(defaults, path)
			}
		}
		return
	}

	if sv.Kind().Simulated {
		p.errs.Add(n.KeyAt("container"), "launcher simulator does not run in a container")
	}

	p.forbid(n, "the program is in the image: use container.command", "binary")
	if sv.Container.ShmSize != "" && sv.Container.IPC == "host" {
		p.errs.Add(c.At("shm-size"), "shm-size has no effect with ipc host: write ipc: private beside it")
	}

	for i, mount := range sv.Container.Mounts {
		sv.Container.Mounts[i] = p.mount(c.Get("mounts").Items[i], mount)
	}

	p.noTilde(c, "cache")
	if sv.Container.Cache != "" {
		sv.Container.Cache = p.abs(sv.Container.Cache)
	}

	if devices := c.Get("devices"); devices != nil && sv.Container.Devices == nil {
		sv.Container.Devices = []string{}
	}
}

// mount makes the source of a mount absolute where it is a relative path; a
// name without a slash in front is a volume.
func (p *parser) mount(n *schema.Node, mount string) string {
	source, rest, ok := strings.Cut(mount, ":")
	if !ok || source == "" || !strings.HasPrefix(rest, "/") {
		p.errs.Add(n.Pos, "mount is %s, expected SOURCE:/path/in/container, or with :ro behind it", n.Shown())
		return mount
	}
	if strings.HasPrefix(source, "~") {
		p.errs.Add(n.Pos, "mount is %s, and ~ is not expanded: write ${env:HOME}/...", n.Shown())
	}
	if source == "." || source == ".." || strings.HasPrefix(source, "./") || strings.HasPrefix(source, "../") {
		return p.abs(source) + ":" + rest
	}
	return mount
}

// warnOfContainerClient: the process that docker run leaves is not the server,
// and ending it does not end the container.
func (p *parser) warnOfContainerClient(n *schema.Node, sv *scenarios.Server) {
	for key, argv := range map[string][]string{"command": sv.Command, "binary": sv.Binary} {
		if client := containerClient(argv); client != "" {
			p.warn(n.At(key), "%s starts %s, whose process is not the server: what it started may outlive it. "+
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
