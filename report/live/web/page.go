package web

import (
	_ "embed" // style and script
	"strings"

	"github.com/benchrig/bench/report/live"
)

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

// pageData is what the page is made of.
type pageData struct {
	live.View
	Nonce  string
	Legend []legend
	Rows   []pageRow
	LogAll string
	Doubts []string
	Charts []drawnChart
	Sofar  []resultRow
	Share  *int // per thousand
}

type legend struct {
	Mark, State string
	N           int
}

type pageRow struct {
	Variant string
	Cells   [][]pageStep
}

type pageStep struct{ Mark, Class, Title string }

// markOf is a state's symbol; see also the legend.
func markOf(s live.StepState) string {
	return map[live.StepState]string{
		live.Done: "✓", live.Suspect: "?", live.Failed: "✗", live.Running: "▶", live.Pending: "·", live.NotRun: "–",
		live.NotNeeded: "○",
	}[s]
}

func classOf(s live.StepState) string { return strings.ReplaceAll(string(s), " ", "-") }

func pageOf(v live.View, nonce string) *pageData {
	d := &pageData{
		View: v, Nonce: nonce, LogAll: strings.Join(v.Log, "\n"), Charts: chartsOf(v),
		Sofar: resultRows(v.Results()),
	}
	for _, s := range []live.StepState{
		live.Done, live.Suspect, live.Failed, live.Running, live.Pending, live.NotRun,
		live.NotNeeded,
	} {
		if n := v.Counts[s]; n > 0 {
			d.Legend = append(d.Legend, legend{markOf(s), string(s), n})
		}
	}

	for _, row := range v.Rows {
		r := pageRow{Variant: row.Variant, Cells: make([][]pageStep, len(row.Cells))}
		for i, cell := range row.Cells {
			for _, s := range cell {
				r.Cells[i] = append(r.Cells[i], pageStep{markOf(s.State), classOf(s.State), s.Brief()})
			}
		}
		d.Rows = append(d.Rows, r)
	}

	const most = 50
	for _, s := range v.Steps {
		if s.Why != "" && s.State != live.NotNeeded && len(d.Doubts) < most {
			d.Doubts = append(d.Doubts, s.Brief())
		}
	}

	if v.Now != nil && v.Now.Share != nil {
		d.Share = new(int(*v.Now.Share * 1000))
	}

	return d
}
