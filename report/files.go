package report

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/benchrig/bench/metrics/versus"
	"github.com/benchrig/bench/report/detail"
	"github.com/benchrig/bench/report/export"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// filesOf makes the report files of a run, by their names relative to its folder
// and with slashes: report.md, summary.csv, differences.csv where variants were
// repeated, parts.csv where a load has parts, the block of every step that has
// figures, and the video memory of every step that used GPUs.
func filesOf(run *results.Run) (map[string][]byte, error) {
	files := make(map[string][]byte)
	var out bytes.Buffer
	if err := Markdown(&out, run); err != nil {
		return nil, fmt.Errorf("make %s: %w", results.ReportName, err)
	}

	files[results.ReportName] = bytes.Clone(out.Bytes())
	out.Reset()
	if err := export.CSV(&out, run); err != nil {
		return nil, fmt.Errorf("make %s: %w", results.SummaryName, err)
	}

	files[results.SummaryName] = bytes.Clone(out.Bytes())
	if len(versus.DifferencesBy(run, 1)) > 0 {
		out.Reset()
		if err := export.DifferencesCSV(&out, run); err != nil {
			return nil, fmt.Errorf("make %s: %w", export.DifferencesName, err)
		}
		files[export.DifferencesName] = bytes.Clone(out.Bytes())
	}

	if export.HasParts(run) {
		out.Reset()
		if err := export.PartsCSV(&out, run); err != nil {
			return nil, fmt.Errorf("make %s: %w", export.PartsName, err)
		}
		files[export.PartsName] = bytes.Clone(out.Bytes())
	}

	for _, s := range run.Steps {
		if text := detail.MemoryUsage(s.Result); text != nil {
			files[path.Join("steps", s.Result.Step.ID, results.MemoryUsageName)] = text
		}
		if s.Result.Figures == nil {
			continue
		}
		out.Reset()
		if err := detail.Block(&out, s.Result); err != nil {
			return nil, err
		}
		files[path.Join("steps", s.Result.Step.ID, results.BlockName)] = bytes.Clone(out.Bytes())
	}

	return files, nil
}

// WriteFiles writes the report files of a run into its folder.
func WriteFiles(run *results.Run) error {
	folder, err := store.Open(run.Dir)
	if err != nil {
		return err
	}
	files, err := filesOf(run)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := folder.WriteFile(name, files[name]); err != nil {
			return err
		}
	}
	return nil
}
