package calibrate

import (
	"errors"
	"maps"
	"slices"

	"github.com/benchrig/bench/internal/importer"
	"github.com/benchrig/bench/metrics"
	"github.com/benchrig/bench/results"
)

// said reads the figures of a client out of the files that it left, and where none of
// them has any out of what it printed, in every format that bench import knows.
func said(files map[string][]byte) (Said, error) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if name == outputName {
			continue
		}
		if s, err := saidIn(name, files[name]); err == nil {
			return s, nil
		}
	}
	return saidIn(outputName, files[outputName])
}

// outputName stands for what a client printed.
const outputName = "output"

func saidIn(name string, data []byte) (Said, error) {
	imported, err := importer.Import([]importer.Source{{Name: name, Data: data}}, importer.Options{})
	if err != nil {
		return Said{}, err
	}
	for _, step := range slices.Backward(imported.Steps) {
		if f := step.Result.Figures; f != nil {
			return saidOf(f), nil
		}
	}
	return Said{}, errors.New("no figures were recognised in what the client printed")
}

func saidOf(f *results.Figures) Said {
	itl := f.ITL
	if itl.Median == nil && itl.Mean == nil {
		itl = f.ICL
	}
	return Said{
		TTFTP50: f.TTFT.Median, TTFTP99: metrics.At(f.TTFT, 99), ITLP50: itl.Median, ITLP99: metrics.At(itl, 99),
		E2ELP50: f.E2EL.Median, TokensPerS: f.OutputThroughput,
	}
}
