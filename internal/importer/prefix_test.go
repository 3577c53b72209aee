package importer

import (
	"fmt"
	"strings"
	"testing"
)

// Blocks are read behind what logs have before each line.
func TestBlocksBehindPrefixes(t *testing.T) {
	text := strings.TrimPrefix(block(160), "\n")
	for name, prefix := range map[string]func(line int) string{
		"a comment":            func(int) string { return "# " },
		"the name of a server": func(int) string { return "(APIServer pid=12) " },
		"docker compose":       func(int) string { return "client-1  | " },
		"a time": func(line int) string {
			return fmt.Sprintf("2025-09-01T00:00:%02d.%dZ stdout F ", line, 5*line)
		},
		"nothing": func(int) string { return "" },
	} {
		t.Run(name, func(t *testing.T) {
			var lines []string
			for range 2 {
				for _, line := range append([]string{"Maximum request concurrency: 32"}, strings.Split(text, "\n")...) {
					lines = append(lines, strings.TrimRight(prefix(len(lines))+line, " "))
				}
			}
			got, err := Import([]Source{{"log", []byte(strings.Join(lines, "\n"))}}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range got.Steps {
				if r := s.Result; r.Figures.Completed != 160 || r.Figures.TTFT.Mean == nil || r.Step.Point != "c32" {
					t.Errorf("%s: %d completed, TTFT %v at %s; want 160, known, at c32", r.Step.ID, r.Figures.Completed,
						r.Figures.TTFT.Mean, r.Step.Point)
				}
			}
			if len(got.Steps) == 0 {
				t.Error("no result")
			}
		})
	}
}
