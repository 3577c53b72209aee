package page

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/report"
	"github.com/benchrig/bench/report/chart"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/codes"
	"github.com/benchrig/bench/results/store"
)

// Name is the file of a run folder that holds the page.
const Name = "report.html"

//go:embed assets/page.css
var pageCSS string

//go:embed assets/page.js
var pageJS string

// view is what the page shows.
type view struct {
	*report.Document
	Policy  string // of the content, as in the header of that name
	Style   string
	Script  string
	Facts   []report.Fact
	Client  []report.Notice   // warnings about the client itself
	Links   map[string]string // step id -> fragment
	Charts  overview
	Columns []table.Column
	Rows    []stepRow
	Choices choices
	Details []*stepDetail
	Left    []string // what is left out, in words
}

// choices are what the table of steps can be narrowed to.
type choices struct{ Variants, Verdicts []string }

// Write draws the page of a run.
func Write(w io.Writer, run *results.Run) error {
	v, err := newView(run)
	if err != nil {
		return fmt.Errorf("make %s: %w", Name, err)
	}

	var out bytes.Buffer
	if err := v.html().Render(&out); err != nil {
		return fmt.Errorf("make %s: %w", Name, err)
	}

	_, err = w.Write(out.Bytes())
	return err
}

// WriteStep draws the page of one step of a run.
func WriteStep(w io.Writer, run *results.Run, id string) error {
	s := run.Step(id)
	if s == nil {
		_, err := report.StepText(run, id) // says which there are
		return err
	}
	one := *run
	one.Steps = []results.Step{*s}
	return Write(w, &one)
}

// WriteFiles writes all report files of a run into its folder: those of
// package report, and the page.
func WriteFiles(run *results.Run) error {
	if err := report.WriteFiles(run); err != nil {
		return err
	}
	folder, err := store.Open(run.Dir)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := Write(&out, run); err != nil {
		return err
	}
	return folder.WriteFile(Name, out.Bytes())
}

func newView(run *results.Run) (*view, error) {
	v := &view{Document: report.NewDocument(run), Links: linksOf(run)}
	v.Style, v.Script = chart.Colors+chart.Style+pageCSS, pageJS
	v.Policy = policy(v.Style, v.Script)
	v.Facts = factsOf(run, v.Document)
	for _, n := range v.Notices {
		if strings.HasPrefix(n.Code, "client-") {
			v.Client = append(v.Client, n)
		}
	}

	v.Columns, v.Rows = stepRows(run, v.Steps, v.Links)
	v.Choices = choicesOf(v.Rows)
	passes := readPasses(run, budgetFor(len(run.Steps)))
	v.Left = passes.left
	if len(run.Steps) > manySteps {
		v.Left = append(v.Left, fmt.Sprintf("%s: valid steps are shown without their log and result block. bench "+
			"report DIR --step ID --html FILE makes a page of one step with all of it",
			text.Count(len(run.Steps), "step")))
	}

	var err error
	if v.Charts, err = overviewOf(run, passes, v.Links); err != nil {
		return nil, err
	}

	v.Details, err = detailsOf(run, passes, v.Links)

	return v, err
}

// attention names what the reader must not miss below: failures, and warnings
// that disqualify; "": there is none.
func (v *view) attention() string {
	const most = 3 // of a kind
	var failed, disqualified []string
	for _, f := range v.Failures {
		failed = text.AppendNew(failed, cmp.Or(f.Class, f.Verdict))
	}
	for _, n := range v.Notices {
		if n.Severity == codes.Disqualifies {
			disqualified = text.AppendNew(disqualified, n.Code)
		}
	}

	var parts []string
	for _, kind := range []struct {
		names []string
		what  string
	}{{failed, "failures: "}, {disqualified, "disqualified by "}} {
		if len(kind.names) > most {
			kind.names = append(kind.names[:most:most], fmt.Sprintf("%d more", len(kind.names)-most))
		}
		if len(kind.names) > 0 {
			parts = append(parts, kind.what+strings.Join(text.CleanAll(kind.names), ", "))
		}
	}

	return strings.Join(parts, "; ")
}

// policy allows this style and this script, and nothing else: no address, no
// form, no frame.
func policy(style, script string) string {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; style-src " + hash(style) + "; script-src " + hash(script) +
		"; base-uri 'none'; form-action 'none'"
}
