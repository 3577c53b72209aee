package results

import (
	"slices"
	"strings"
)

// Imported says that a run was not carried out by bench: its figures were read
// out of files that others wrote. There are no server lives of ours, no proof of
// a stop and no telemetry; what the files do not say is not known.
type Imported struct {
	Files []ImportedFile `json:"import_files"`
}

// ImportedFile is a file that was imported.
type ImportedFile struct {
	Name     string         `json:"name"` // without its folder
	SHA256   string         `json:"sha256"`
	Bytes    int64          `json:"bytes"`
	Format   string         `json:"import_format"` // "vllm-json", "text" and so on
	Encoding string         `json:"encoding"`      // "utf-8", "utf-16le", "utf-16be"
	Copy     string         `json:"copy"`          // of the file, within the run folder; "": it is too large to be kept
	Results  int            `json:"import_results"`
	Lines    []ImportedLine `json:"import_lines"` // what is not a figure of a step, in order
	// further lines, and progress bars that were overwritten: only the copy has them
	Omitted int `json:"omitted"`
}

// LineKind says what a line of an imported file was taken for.
type LineKind string

// The kinds of lines.
const (
	LineNote       LineKind = "note"
	LineHeading    LineKind = "heading"
	LineCommand    LineKind = "command"
	LineNotFigures LineKind = "not-understood" // it looks like figures, and no step has them
)

// ImportedLine is a line of an imported file that is kept as text.
type ImportedLine struct {
	Line int      `json:"line"` // from 1
	Kind LineKind `json:"line_kind"`
	Text string   `json:"text"`
}

// Origin says where the figures of an imported step come from.
type Origin struct {
	File   string `json:"file"` // name, as in ImportedFile
	Line   int    `json:"line"` // where the figures begin, from 1; 0: a file without lines of that kind
	Also   []int  `json:"also"` // lines where the same figures stand again
	Format string `json:"import_format"`
	// the client whose definitions the figures follow; "": another than vLLM's, or not known
	Reading Generation `json:"reading"`
	// names of the settings in Asked that are known
	StatedSettings []string      `json:"told"`
	Stated         []StatedValue `json:"stated"` // everything that was read, as it stood there
}

// Ours says that bench measured the figures, somewhere else.
func (o *Origin) Ours() bool { return strings.HasPrefix(o.Format, "bench-") }

// StatedValue is a value as an imported file states it.
type StatedValue struct {
	Label string `json:"label"` // its name there, with the unit: "Mean TTFT (ms)"
	Text  string `json:"text"`
	Line  int    `json:"line"`
	As    string `json:"as"` // the figure or setting that it became; "": it stands here only
}

// CountImported is the source of token counts that an imported file states.
const CountImported TokenCount = "imported"

// SourcesName is the folder of a run for copies of what was imported.
const SourcesName = "sources"

// IsStated reports whether a setting of the load is known: always of a step of
// bench, and of an imported one where its file states it.
func (r *Result) IsStated(setting string) bool {
	return r.Imported == nil || slices.Contains(r.Imported.StatedSettings, setting)
}

// KnowsCompleted reports whether the number of successful requests is known: of an
// imported step its file must state it.
func (r *Result) KnowsCompleted() bool { return r.MeasuredByBench() || r.states("completed") }

// KnowsFailed reports whether the number of failed requests is known.
func (r *Result) KnowsFailed() bool {
	return r.MeasuredByBench() || r.states("failed") || r.states("completed") && r.IsStated("num_prompts")
}

// KnowsAsked reports whether the number of requests asked for is known.
func (r *Result) KnowsAsked() bool {
	return r.MeasuredByBench() || r.IsStated("num_prompts") || r.states("completed") && r.states("failed")
}

// KnownCounts are the counts of a pass that are known: all of a pass of bench;
// of an imported one those that its file states. The others are null.
type KnownCounts struct {
	Asked     *int     `json:"asked"`
	Completed *int     `json:"completed"`
	Failed    *int     `json:"failed"`
	Unsent    *int     `json:"unsent"`
	DurationS *float64 `json:"duration_s"`

	PeakConcurrent *int `json:"peak_concurrent_requests"`
}

// Known lists the counts of r's figures f that are known.
func (r *Result) Known(f *Figures) KnownCounts {
	k := KnownCounts{&f.Asked, &f.Completed, &f.Failed, &f.Unsent, &f.DurationS, &f.PeakConcurrent}
	if r.MeasuredByBench() {
		return k
	}

	if k.Unsent = nil; !r.KnowsAsked() {
		k.Asked = nil
	}
	if !r.KnowsCompleted() {
		k.Completed = nil
	}
	if !r.KnowsFailed() {
		k.Failed = nil
	}
	if f.DurationS == 0 {
		k.DurationS = nil
	}
	if f.PeakConcurrent == 0 {
		k.PeakConcurrent = nil
	}
	return k
}

// MeasuredByBench reports whether bench measured the step, here or somewhere else,
// and not another program.
func (r *Result) MeasuredByBench() bool { return r.Imported == nil || r.Imported.Ours() }

// states reports whether the file of an imported step states a figure.
func (r *Result) states(figure string) bool {
	return slices.ContainsFunc(r.Imported.Stated, func(s StatedValue) bool { return s.As == figure })
}
