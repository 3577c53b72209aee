package llamabench

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrig/bench/results"
)

// addMarkdown reads tables; a line "build: COMMIT (NUMBER)" belongs to the rows
// before it.
func (out *Output) addMarkdown(text string) error {
	var heads []string
	unbuilt := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if build, ok := strings.CutPrefix(line, "build: "); ok {
			for i := unbuilt; i < len(out.Rows); i++ {
				out.Rows[i].Build = build
			}
			unbuilt, heads = len(out.Rows), nil
			continue
		}
		if !strings.HasPrefix(line, "|") {
			heads = nil
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case isHead(cells):
			heads = cells
		case heads == nil || strings.Trim(line, "|-: ") == "":
		default:
			row, err := fromCells(heads, cells)
			if err != nil {
				return err
			}
			if stated := strings.Fields(cells[slices.Index(heads, "t/s")]); len(stated) > 1 && row.TokensPerSD == nil {
				out.notef("test %s: its deviation is %s, which cannot be", row.Test, stated[len(stated)-1])
			}
			out.Rows = append(out.Rows, row)
		}
	}

	return nil
}

func isHead(cells []string) bool {
	test, speed := false, false
	for _, c := range cells {
		test = test || c == "test"
		speed = speed || c == "t/s"
	}
	return test && speed
}

func fromCells(heads, cells []string) (results.LlamaBenchRow, error) {
	if len(cells) != len(heads) {
		return results.LlamaBenchRow{}, fmt.Errorf("a row of %d cells under %d heads: %q", len(cells), len(heads),
			strings.Join(cells, " | "))
	}
	row := results.LlamaBenchRow{Rest: map[string]string{}}
	for i, head := range heads {
		if err := set(&row, head, cells[i]); err != nil {
			return results.LlamaBenchRow{}, fmt.Errorf("column %q: %w", head, err)
		}
	}
	row.Test = results.TestName(row.Prompt, row.Generated, row.Depth)
	return row, nil
}

func set(r *results.LlamaBenchRow, head, cell string) (err error) {
	switch head {
	case "model":
		r.Model = cell
	case "size":
		r.SizeBytes, err = amount(cell, map[string]float64{"GiB": 1 << 30, "MiB": 1 << 20})
	case "params":
		r.Parameters, err = amount(cell, map[string]float64{"B": 1e9, "M": 1e6})
	case "backend":
		r.Backend = cell
	case "ngl":
		var n int
		n, err = strconv.Atoi(cell)
		r.GPULayers = &n
	case "threads":
		r.Threads, err = strconv.Atoi(cell)
	case "n_batch":
		r.Batch, err = strconv.Atoi(cell)
	case "n_ubatch":
		r.MicroBatch, err = strconv.Atoi(cell)
	case "fa":
		r.FlashAttn = cell
	case "test":
		err = setTest(r, cell)
	case "t/s":
		err = setSpeed(r, cell)
	default:
		r.Rest[head] = cell
	}

	return err
}

// amount reads "3.56 GiB" or "6.74 B".
func amount(cell string, units map[string]float64) (int64, error) {
	number, unit, _ := strings.Cut(cell, " ")
	value, err := strconv.ParseFloat(number, 64)
	factor, known := units[unit]
	if err != nil || !known || value < 0 || value*factor > 1e18 {
		return 0, fmt.Errorf("%q is not an amount", cell)
	}
	return int64(math.Round(value * factor)), nil
}

// setTest reads "pp512", "tg128", "pp512+tg128", each perhaps with "@ d1024".
func setTest(r *results.LlamaBenchRow, cell string) error {
	test, depth, deep := strings.Cut(cell, " @ d")
	if deep {
		n, err := strconv.Atoi(depth)
		if err != nil {
			return fmt.Errorf("%q is not a test", cell)
		}
		r.Depth = n
	}

	for part := range strings.SplitSeq(test, "+") {
		n, err := strconv.Atoi(strings.TrimLeft(part, "pgt"))
		switch {
		case err != nil || n < 0:
			return fmt.Errorf("%q is not a test", cell)
		case strings.HasPrefix(part, "pp"):
			r.Prompt = n
		case strings.HasPrefix(part, "tg"):
			r.Generated = n
		default:
			return fmt.Errorf("%q is not a test", cell)
		}
	}

	return nil
}

// setSpeed reads "878.31 ± 4.11", whatever became of the sign in between.
func setSpeed(r *results.LlamaBenchRow, cell string) error {
	fields := strings.Fields(cell)
	if len(fields) == 0 {
		return fmt.Errorf("%q is not a speed", cell)
	}

	var err error
	r.TokensPerS, err = strconv.ParseFloat(fields[0], 64)
	if err != nil || !(r.TokensPerS >= 0) || math.IsInf(r.TokensPerS, 0) {
		return fmt.Errorf("%q is not a speed", cell)
	}
	if len(fields) > 1 {
		sd, err := strconv.ParseFloat(fields[len(fields)-1], 64)
		if err != nil {
			return fmt.Errorf("%q is not a speed", cell)
		}
		if !math.IsNaN(sd) && !impossible(sd, r.TokensPerS, 0) {
			r.TokensPerSD = &sd
		}
	}

	return nil
}
