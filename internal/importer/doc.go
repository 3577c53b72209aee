// Package importer reads results that other programs wrote or printed.
//
// What goes in: the bytes of files - vLLM's and SGLang's saved results, printed
// result blocks and tables in logs and READMEs, llama-bench's output, our own
// results. What comes out: results in our form, each value with where it stood
// and how it read there, and the lines that are not figures. It opens no file,
// guesses nothing - what a file does not say stays null - and drops nothing
// without saying so.
package importer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrig/bench/results"
)

// Source is one file.
type Source struct {
	Name string // without its folder
	Data []byte
}

// Options say what the files do not.
type Options struct {
	Format  string // one of Formats; "": by content
	Variant string // name for every result; "": by headings, labels and models
	// regular expression over file names; its groups "variant" and "point", or the first group, name them
	VariantPattern string
	Sets           []Setting
	Renames        []Rename // of variants, after they have their names
}

// Setting is what the user knows and the files do not tell.
type Setting struct{ Key, Value string }

// Limits on what is read, so that hostile files end in an error and not in a
// machine without memory.
const (
	maxBytes   = 512 << 20 // of a file
	maxEntries = 20_000    // results of an import
	maxLines   = 2_000     // kept as text, of a file
)

// Formats are the names of formats, as Options take them.
func Formats() []string {
	return []string{
		formatVLLM, formatSGLang, formatOwn, formatLlamaJSON, formatLlamaSQL, formatPerf, formatGuide, formatOptimizer,
		formatInferenceX, formatMTP, formatProgram, formatCSV, formatText,
	}
}

// The formats.
const (
	formatVLLM      = "vllm-json"
	formatSGLang    = "sglang-json"
	formatOwn       = "bench-json"
	formatOwnCSV    = "bench-csv"
	formatLlamaJSON = "llama-bench-json"
	formatLlamaSQL  = "llama-bench-sql"
	formatCSV       = "csv"

	formatPerf       = "aiperf" // AIPerf and genai-perf, as JSON or CSV
	formatGuide      = "guidellm"
	formatOptimizer  = "llm-optimizer"
	formatInferenceX = "inferencex"
	formatMTP        = "mtp"
	formatProgram    = "program-json" // llama-batched-bench, vllm bench throughput, latency and startup

	formatText = "text" // result blocks and tables within anything
)

// Import reads files. Those without a result are not an error as long as there are
// commands or one of the others has one.
func Import(sources []Source, o Options) (*Imported, error) {
	names, err := newNamer(o)
	if err != nil {
		return nil, err
	}
	if err := checkSets(o.Sets); err != nil {
		return nil, err
	}
	if o.Format != "" && !slices.Contains(Formats(), o.Format) {
		return nil, fmt.Errorf("format %q: want one of %s", o.Format, strings.Join(Formats(), ", "))
	}

	out := &Imported{}
	var all []*entry
	for _, s := range sources {
		file, entries, err := read(s, o.Format)
		if err != nil {
			return nil, fmt.Errorf("import %s: %w", s.Name, err)
		}
		if all = append(all, entries...); len(all) > maxEntries {
			return nil, fmt.Errorf("import %s: more than %d results; import fewer files at once", s.Name, maxEntries)
		}
		out.Files = append(out.Files, file)
	}

	if len(all) == 0 && !anyCommand(out.Files) {
		return nil, noResult(out.Files)
	}

	all = names.name(all)
	if err := names.checkRenames(); err != nil {
		return nil, err
	}
	for _, e := range all {
		out.Steps = append(out.Steps, e.step(o.Sets))
	}

	return out, nil
}

// noResult tells the first line that reads like a result.
func noResult(files []results.ImportedFile) error {
	for _, f := range files {
		for _, l := range f.Lines {
			if l.Kind == results.LineNotFigures {
				return fmt.Errorf("import: no result was recognised; not understood: %s:%d: %s", f.Name, l.Line, l.Text)
			}
		}
	}
	return errors.New("import: no result was recognised; try --format, or report the file")
}

func anyCommand(files []results.ImportedFile) bool {
	return slices.ContainsFunc(files, func(f results.ImportedFile) bool {
		return slices.ContainsFunc(f.Lines, func(l results.ImportedLine) bool { return l.Kind == results.LineCommand })
	})
}
