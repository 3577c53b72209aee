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
	"math"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/importer/clients"
	"github.com/benchrig/bench/internal/importer/plain"
	"github.com/benchrig/bench/internal/importer/stated"
	"github.com/benchrig/bench/results"
)

// Source is one file.
type Source struct {
	Name string // without its folder
	Data []byte
}

// Options say what the files do not state.
type Options struct {
	Format  string // one of Formats; "": by content
	Variant string // name for every result; "": by headings, labels and models
	// regular expression over file names; its groups "variant" and "point", or the first group, name them
	VariantPattern string
	Sets           []Setting
	Renames        []Rename // of variants, after they have their names
}

// Setting is what the user knows and the files do not state.
type Setting struct{ Key, Value string }

// Limits on what is read, so that a hostile file ends in an error and does not exhaust
// the machine's memory.
const (
	maxBytes   = 512 << 20 // of a file
	maxEntries = 20_000    // results of an import
	maxLines   = 2_000     // kept as text, of a file
)

// Formats lists the names of formats, as Options take them.
func Formats() []string {
	return []string{
		clients.VLLM, clients.SGLang, formatOwn, formatLlamaJSON, formatLlamaSQL, clients.Perf, clients.GuideLLM,
		clients.Optimizer, clients.InferenceX, clients.MTP, formatProgram, formatCSV, formatText,
	}
}

// The formats beside those of load clients.
const (
	formatOwn       = "bench-json"
	formatOwnCSV    = "bench-csv"
	formatLlamaJSON = "llama-bench-json"
	formatLlamaSQL  = "llama-bench-sql"
	formatCSV       = "csv"
	formatProgram   = "program-json" // llama-batched-bench, vllm bench throughput, latency and startup
	formatText      = "text"         // result blocks and tables within anything
)

// Imported is what was read.
type Imported struct {
	Files []results.ImportedFile
	Steps []Step
}

// Step is one result with its records, if its file has them.
type Step struct {
	Result  *results.Result
	Records []results.Record
	Notes   []string // text beside it
}

// Import reads files. A file without a result is an error only if no file has one, or
// a command.
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
	var all []*stated.Entry
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
	version := o.version()
	for _, e := range all {
		out.Steps = append(out.Steps, Step{e.Result(version), e.Records, e.Notes})
	}

	return out, nil
}

// version returns the version of the engine that the user gives; "": none.
func (o Options) version() string {
	for _, s := range o.Sets {
		if s.Key == "engine_version" {
			return s.Value
		}
	}
	return ""
}

// checkSets refuses settings that cannot be meant.
func checkSets(sets []Setting) error {
	for _, s := range sets {
		want := ""
		v, isNumber := plain.Number(s.Value)
		switch s.Key {
		case "max_concurrency", "num_prompts", "input_len", "output_len":
			if !isNumber || v != math.Trunc(v) || v < 0 || v > math.MaxInt32 {
				want = "a whole number"
			}
		case "burstiness", "temperature":
			if !isNumber {
				want = "a number"
			}
		case "request_rate":
			if !isNumber && !strings.EqualFold(s.Value, "inf") {
				want = "a number, or inf"
			}
		case "ignore_eos":
			if !strings.EqualFold(s.Value, "true") && !strings.EqualFold(s.Value, "false") {
				want = "true or false"
			}
		}

		if s.Key == "" || s.Value == "" {
			want = "key=value"
		}
		if want != "" {
			return fmt.Errorf("set %s=%s: want %s", s.Key, s.Value, want)
		}
	}
	return nil
}

// noResult returns an error that quotes the first line that reads like a result.
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
