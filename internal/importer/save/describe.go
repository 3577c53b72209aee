package save

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/benchrig/bench/internal/importer"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/internal/userfile"
	"github.com/benchrig/bench/results"
)

// maxImported bounds a file that is imported, in bytes: it is held in memory.
const maxImported = 1 << 30

// ReadSource reads a file to import; "-" is stdin.
func ReadSource(stdin io.Reader, path string) (importer.Source, error) {
	if path == "-" {
		data, err := userfile.ReadAll(stdin, "stdin", maxImported)
		return importer.Source{Name: "stdin", Data: data}, err
	}
	data, err := userfile.Read(path, maxImported)
	if err != nil {
		return importer.Source{}, fmt.Errorf("import: %w", err)
	}
	return importer.Source{Name: filepath.Base(path), Data: data}, nil
}

// Describe writes to out what each file contained, and to notes what was not understood
// and what is doubtful.
func Describe(out, notes io.Writer, read *importer.Imported) {
	for _, s := range read.Steps {
		for _, w := range s.Result.Warnings {
			if w.Code != results.WarnImported && w.Code != results.WarnFailures {
				fmt.Fprintf(notes, "warning: %s: %s: %s\n", s.Result.Step.ID, w.Code, text.Clean(w.Message))
			}
		}
	}

	for _, f := range read.Files {
		describeUnread(notes, f)
		fmt.Fprintf(out, "%s: %s, %s", f.Name, f.Format, text.Count(f.Results, "result"))
		if n := len(f.Lines); n > 0 {
			fmt.Fprintf(out, "; %s kept as text", text.Count(n, "line"))
		}
		if f.Omitted > 0 {
			fmt.Fprintf(out, "; %s more only in the copy of the file", text.Count(f.Omitted, "line"))
		}
		fmt.Fprintln(out)
	}
}

// describeUnread lists the lines of a file that read like figures, but were not
// understood.
func describeUnread(notes io.Writer, f results.ImportedFile) {
	const most = 20
	unread := 0
	for _, l := range f.Lines {
		if l.Kind != results.LineNotFigures {
			continue
		}
		if unread++; unread <= most {
			fmt.Fprintf(notes, "not understood: %s:%d: %s\n", f.Name, l.Line, text.Clean(l.Text))
		}
	}
	if unread > most {
		fmt.Fprintf(notes, "not understood: %s: %s more, in manifest.json\n", f.Name, text.Count(unread-most, "line"))
	}
}
