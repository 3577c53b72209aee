package check

import (
	"path/filepath"
	"strings"

	"github.com/benchrig/bench/launchers/container"
)

// needArguments notes the files and folders that a server's arguments name, where
// they are plainly paths: other words may be names on a hub.
func (c *serverCheck) needArguments() {
	kind := c.sv.Kind()
	if kind.Args.File == nil || c.sv.Container.Image != "" {
		return
	}

	for _, arg := range c.sv.Args {
		path := kind.Args.File(arg.Name, arg.Value)
		begins := strings.HasPrefix(path, "./") || strings.HasPrefix(path, "../")
		switch {
		case strings.Contains(path, ","): // several
			continue
		case filepath.IsAbs(path):
		case begins && c.sv.WorkDir != "":
			path = filepath.Join(c.abs(c.sv.WorkDir), path)
		default:
			continue
		}
		c.Scenario.NeedFile("args: "+arg.Name, path, arg.Pos)
	}
}

// resolvePaths makes the paths of a server absolute, and notes the files that it needs.
func (c *serverCheck) resolvePaths() {
	s := c.Scenario
	for _, key := range []string{"model", "binary", "command", "work-dir"} {
		c.noTilde(c.n, key)
	}

	if path, local := c.localModel(); local {
		c.sv.Model = path
		if c.sv.Container.Image == "" {
			s.NeedFile("model", path, c.n.At("model"))
		}
	}

	c.needArguments()

	for key, argv := range map[string][]string{"binary": c.sv.Binary, "command": c.sv.Command} {
		inImage := c.sv.Container.Image != ""
		if len(argv) > 0 && strings.Contains(argv[0], "/") && !strings.Contains(argv[0], "${") && !inImage {
			argv[0] = c.abs(argv[0])
			s.NeedFile(key, argv[0], c.n.At(key))
		}
	}

	// an image of an engine without a daemon is a file or a folder, or an address such as docker://IMAGE
	if image := container.Options(c.sv.Container); image.Image != "" && !image.Daemon() && image.ImageIsFile() {
		c.sv.Container.Image = c.abs(c.sv.Container.Image)
		s.NeedFile("image", c.sv.Container.Image, c.n.Get("container").At("image"))
	}

	if c.sv.TLS.CA != "" {
		c.sv.TLS.CA = c.abs(c.sv.TLS.CA)
		s.NeedFile("tls.ca", c.sv.TLS.CA, c.n.Get("tls").At("ca"))
	}
	if c.sv.UnixSocket != "" {
		c.sv.UnixSocket = c.abs(c.sv.UnixSocket)
	}
	if c.sv.WorkDir != "" {
		c.sv.WorkDir = c.abs(c.sv.WorkDir)
		s.NeedFile("work-dir", c.sv.WorkDir, c.n.At("work-dir"))
	}
}
