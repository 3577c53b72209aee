package parse

import (
	"path/filepath"
	"strings"

	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/schema"
)

// abs resolves a path against the scenario's folder.
func (p *parser) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(p.dir, path)
}

// noTilde reports a path that begins with ~, which only shells expand.
func (p *parser) noTilde(n *schema.Node, key string) {
	v := n.Get(key)
	if v != nil && v.Kind == schema.List && len(v.Items) > 0 {
		v = v.Items[0]
	}
	if v != nil && v.Kind == schema.Text && (v.Text == "~" || strings.HasPrefix(v.Text, "~/")) {
		p.errs.Add(v.Pos, "%s is %s, and ~ is not expanded: write ${env:HOME}/...", key, v.Shown())
	}
}

// argumentPaths notes the files and folders that a server's arguments name, where
// they are plainly paths: other words may be names on a hub.
func (p *parser) argumentPaths(sv *scenarios.Server, s *scenarios.Scenario) {
	kind := sv.Kind()
	if kind.File == nil || sv.Container.Image != "" {
		return
	}

	for _, arg := range sv.Args {
		path := kind.File(arg.Name, arg.Value)
		begins := strings.HasPrefix(path, "./") || strings.HasPrefix(path, "../")
		switch {
		case strings.Contains(path, ","): // several
			continue
		case filepath.IsAbs(path):
		case begins && sv.WorkDir != "":
			path = filepath.Join(p.abs(sv.WorkDir), path)
		default:
			continue
		}
		s.NeedFile("args: "+arg.Name, path, arg.Pos)
	}
}

func (p *parser) serverPaths(n *schema.Node, sv *scenarios.Server, s *scenarios.Scenario) {
	for _, key := range []string{"model", "binary", "command", "work-dir"} {
		p.noTilde(n, key)
	}

	if path, local := p.localModel(sv.Launcher, sv.Model); local {
		sv.Model = path
		if sv.Container.Image == "" {
			s.NeedFile("model", path, n.At("model"))
		}
	}

	p.argumentPaths(sv, s)

	for key, argv := range map[string][]string{"binary": sv.Binary, "command": sv.Command} {
		inImage := sv.Container.Image != ""
		if len(argv) > 0 && strings.Contains(argv[0], "/") && !strings.Contains(argv[0], "${") && !inImage {
			argv[0] = p.abs(argv[0])
			s.NeedFile(key, argv[0], n.At(key))
		}
	}

	// an image of an engine without a daemon is a file or a folder, or an address such as docker://IMAGE
	if image := container.Options(sv.Container); image.Image != "" && !image.Daemon() && image.ImageIsFile() {
		sv.Container.Image = p.abs(sv.Container.Image)
		s.NeedFile("image", sv.Container.Image, n.Get("container").At("image"))
	}

	if sv.TLS.CA != "" {
		sv.TLS.CA = p.abs(sv.TLS.CA)
		s.NeedFile("tls.ca", sv.TLS.CA, n.Get("tls").At("ca"))
	}
	if sv.UnixSocket != "" {
		sv.UnixSocket = p.abs(sv.UnixSocket)
	}
	if sv.WorkDir != "" {
		sv.WorkDir = p.abs(sv.WorkDir)
		s.NeedFile("work-dir", sv.WorkDir, n.At("work-dir"))
	}
}
