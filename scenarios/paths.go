package scenarios

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchrig/bench/scenarios/schema"
)

// localPath is a file or folder of this box that a run needs.
type localPath struct {
	what string
	path string
	pos  schema.Pos
}

// The whats of files that prompts are made of.
const (
	datasetPath   = "dataset"
	tokenizerPath = "tokenizer"
)

// Problems lists what this box lacks for a run of the scenario: a dataset, a
// model file, a program or a folder that is not there. They stop a run, not a
// plan, which may be made on another box.
func (s *Scenario) Problems() []*schema.Error {
	var c schema.Collector
	for _, l := range s.locals {
		if _, err := os.Stat(l.path); err != nil {
			c.Add(l.pos, "%s %q is not there: %v", l.what, l.path, cause(err))
		}
	}
	return c.Sorted(s.Path)
}

// Blockers are the problems that no step survives: without its prompts nothing
// of a scenario can be measured.
func (s *Scenario) Blockers() []*schema.Error {
	only := Scenario{Path: s.Path}
	for _, l := range s.locals {
		if l.what == datasetPath || l.what == tokenizerPath {
			only.locals = append(only.locals, l)
		}
	}
	return only.Problems()
}

// cause is an error of the file system without the path, which is shown.
func cause(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}

// abs resolves a path against the scenario's folder.
func (p *parser) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(p.dir, path)
}

// need notes a file that a run needs; ~ is a thing of shells.
func (p *parser) need(s *Scenario, what, path string, pos schema.Pos) {
	l := localPath{what, path, pos}
	if !slices.Contains(s.locals, l) {
		s.locals = append(s.locals, l)
	}
}

func (p *parser) noTilde(n *schema.Node, key string) {
	v := n.Get(key)
	if v != nil && v.Kind == schema.List && len(v.Items) > 0 {
		v = v.Items[0]
	}
	if v != nil && v.Kind == schema.Text && (v.Text == "~" || strings.HasPrefix(v.Text, "~/")) {
		p.errs.Add(v.Pos, "%s is %s, and ~ is not expanded: write ${env:HOME}/...", key, v.Shown())
	}
}

func (p *parser) serverPaths(n *schema.Node, sv *Server, s *Scenario) {
	for _, key := range []string{"model", "binary", "command", "work-dir"} {
		p.noTilde(n, key)
	}
	if path, local := p.localModel(sv.Launcher, sv.Model); local {
		sv.Model = path
		if sv.Container.Image == "" {
			p.need(s, "model", path, n.At("model"))
		}
	}
	for key, argv := range map[string][]string{"binary": sv.Binary, "command": sv.Command} {
		inImage := sv.Container.Image != ""
		if len(argv) > 0 && strings.Contains(argv[0], "/") && !strings.Contains(argv[0], "${") && !inImage {
			argv[0] = p.abs(argv[0])
			p.need(s, key, argv[0], n.At(key))
		}
	}
	if sv.TLS.CA != "" {
		sv.TLS.CA = p.abs(sv.TLS.CA)
		p.need(s, "tls.ca", sv.TLS.CA, n.Get("tls").At("ca"))
	}
	if sv.UnixSocket != "" {
		sv.UnixSocket = p.abs(sv.UnixSocket)
	}
	if sv.WorkDir != "" {
		sv.WorkDir = p.abs(sv.WorkDir)
		p.need(s, "work-dir", sv.WorkDir, n.At("work-dir"))
	}
}
