package versus

import (
	"fmt"
	"path/filepath"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// Side is one run of a comparison: a set of server starts.
type Side struct {
	Name string // as shown: short, and different for each side
	Path string // as given
	Run  *results.Run
}

// ReadSides reads the runs at some paths. A side is called by its last path element, or by its whole
// path where two would be called alike.
func ReadSides(paths []string, read func(path string) (*results.Run, error)) ([]Side, error) {
	var sides []Side
	for _, path := range paths {
		run, err := read(path)
		if err != nil {
			return nil, fmt.Errorf("compare %s: %w", path, err)
		}
		sides = append(sides, Side{Name: text.Clean(filepath.Base(filepath.Clean(path))), Path: path, Run: run})
	}

	names := map[string]int{}
	for _, s := range sides {
		names[s.Name]++
	}

	for i, s := range sides {
		if s.Name == results.ResultName || names[s.Name] > 1 {
			sides[i].Name = text.Clean(filepath.Clean(s.Path))
		}
	}

	return sides, nil
}
