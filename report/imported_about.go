package report

import (
	"fmt"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
)

// importedAbout is shown in place of the moment at which a run began.
func importedAbout(m results.Manifest) string {
	var files []string
	for _, f := range m.Imported.Files {
		files = append(files, fmt.Sprintf("%s (%s)", text.Clean(f.Name), text.Clean(f.Format)))
	}
	return fmt.Sprintf("IMPORTED by bench %s, %s, from %s: nothing was measured here", text.Clean(m.Bench),
		text.Clean(m.StartedAt), text.Few(files))
}
