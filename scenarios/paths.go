package scenarios

import (
	"errors"
	"os"
	"slices"

	"github.com/benchrig/bench/scenarios/schema"
)

// localPath is a file or folder of this machine that a run needs.
type localPath struct {
	what string
	path string
	pos  schema.Pos
}

// What files that prompts are made of are needed for.
const (
	DatasetFile   = "dataset"
	TokenizerFile = "tokenizer"
)

// NeedFile notes a file or folder of this machine that a run needs, once.
func (s *Scenario) NeedFile(what, path string, pos schema.Pos) {
	l := localPath{what, path, pos}
	if !slices.Contains(s.locals, l) {
		s.locals = append(s.locals, l)
	}
}

// ForgetFiles removes files from those that a run needs.
func (s *Scenario) ForgetFiles(forget func(what, path string) bool) {
	s.locals = slices.DeleteFunc(s.locals, func(l localPath) bool { return forget(l.what, l.path) })
}

// Problems lists what this machine lacks for a run of the scenario: a dataset, a
// model file, a program or a folder that is not there. They stop a run, not a
// plan, which may be made on another machine.
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
		if l.what == DatasetFile || l.what == TokenizerFile {
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
