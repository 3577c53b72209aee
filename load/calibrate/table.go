package calibrate

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/benchrig/bench/results"
)

// WriteTables prints a calibration for people: what each reader costs beside the raw one,
// its figures beside the truth, and how late it reads.
func WriteTables(out io.Writer, cal results.Calibration) error {
	fmt.Fprintf(out, "%s, %d cores; feeder and reader share them\n", cal.CPU, cal.Cores)
	for _, t := range []func() table{
		func() table { return requestCost(cal) },
		func() table { return eventCost(cal) },
		func() table { return truthTable(cal) },
		func() table { return lateness(cal) },
	} {
		if err := t().write(out); err != nil {
			return err
		}
	}
	return nil
}

// table is rows of cells under a title.
type table struct {
	title string
	head  string // names of columns, parted by "|"
	rows  [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t table) write(out io.Writer) error {
	if len(t.rows) == 0 {
		return nil
	}
	fmt.Fprintf(out, "\n%s\n\n", t.title)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, cells := range slices.Concat([][]string{strings.Split(t.head, "|")}, t.rows) {
		fmt.Fprintf(w, "%s\t\n", strings.Join(cells, "\t"))
	}
	return w.Flush()
}

func requestCost(cal results.Calibration) table {
	t := table{
		title: fmt.Sprintf("Cost of requests: answers of one token, %d in flight, a connection for each",
			requestsWidth),
		head: "reader|requests/s|x raw|CPU us/request|x raw|requests/s per core",
	}
	raw := results.CalibratedRequests{}
	for _, r := range cal.Requests {
		if r.Reader == ReaderRaw {
			raw = r
		}
	}
	for _, r := range cal.Requests {
		t.add(r.Reader, whole(r.RequestsPerS), ratio(r.RequestsPerS, raw.RequestsPerS), us(r.CPUPerRequestS),
			ratio(r.CPUPerRequestS, raw.CPUPerRequestS), perCore(r.CPUPerRequestS))
	}
	return t
}

func eventCost(cal results.Calibration) table {
	t := table{
		title: "Cost of events: paced as the streams below, and unpaced, as fast as the feeder writes",
		head: "streams|reader|events/s|CPU us/event|x raw|unpaced events/s|x raw|CPU us/event|x raw|" +
			"events/s per core|MB",
	}
	for _, d := range cal.Drives {
		raw, _ := findCalibration(&cal, ReaderRaw, d.Streams)
		t.add(fmt.Sprint(d.Streams), d.Reader, whole(d.EventsPerS), us(d.CPUPerEventS),
			ratio(d.CPUPerEventS, raw.CPUPerEventS), whole(d.UnpacedPerS), ratio(d.UnpacedPerS, raw.UnpacedPerS),
			us(d.UnpacedCPUPerEventS), ratio(d.UnpacedCPUPerEventS, raw.UnpacedCPUPerEventS),
			perCore(d.UnpacedCPUPerEventS), fmt.Sprint(d.MemoryBytes>>20))
	}
	return t
}

func truthTable(cal results.Calibration) table {
	t := table{
		title: "Truth: the feeder's own times, and by how much each reader's figures are off; " +
			"at most: the reader's own bound (ms)",
		head: "streams|reader|TTFT p50|off|at most|ITL p50|off|at most|ITL p99|off|off %|at most",
	}
	for _, d := range cal.Drives {
		t.add(fmt.Sprint(d.Streams), d.Reader,
			knownMS(d.TrueTTFTS), off(d.RequestTTFTS, d.TrueTTFTS), atMost(d.TTFTAtMostS),
			knownMS(d.TrueITLP50S), off(d.ITLP50S, d.TrueITLP50S), atMost(d.ITLP50AtMostS),
			knownMS(d.TrueITLP99S), off(d.ITLP99S, d.TrueITLP99S), percentOff(d.ITLP99S, d.TrueITLP99S),
			atMost(d.ITLP99AtMostS))
	}
	return t
}

func lateness(cal results.Calibration) table {
	t := table{
		title: "Lateness: TTFT from the start of the burst; how long after its write an event is stamped and read (ms)",
		head:  "streams|reader|TTFT p50|x raw|stamped p50|p99|max|read p99",
	}
	for _, d := range cal.Drives {
		raw, _ := findCalibration(&cal, ReaderRaw, d.Streams)
		read := ms(d.StampP99S) // without the kernel's stamps an event is stamped as it is read
		if d.LagP99S != nil {
			read = ms(*d.LagP99S)
		}
		t.add(fmt.Sprint(d.Streams), d.Reader, ms(d.TTFTS), ratio(d.TTFTS, raw.TTFTS), ms(d.StampP50S),
			ms(d.StampP99S), ms(d.StampMaxS), read)
	}
	return t
}

func ms(seconds float64) string      { return fmt.Sprintf("%.3f", seconds*1e3) }
func us(seconds float64) string      { return orDash(seconds, "%.2f", seconds*1e6) }
func whole(value float64) string     { return orDash(value, "%.0f", value) }
func perCore(cost float64) string    { return orDash(cost, "%.0f", 1/cost) }
func ratio(value, of float64) string { return orDash(min(value, of), "%.2f", value/of) }

func knownMS(seconds float64) string { return orDash(seconds, "%.3f", seconds*1e3) }

// off is by how much a figure differs from the truth.
func off(said, truth float64) string { return orDash(min(said, truth), "%+.3f", 1e3*(said-truth)) }

func percentOff(said, truth float64) string {
	return orDash(min(said, truth), "%+.1f", 100*(said/truth-1))
}

func atMost(bound *float64) string {
	if bound == nil {
		return "-"
	}
	return "±" + ms(*bound)
}

// orDash is a value, or a dash where known is 0: it was not measured.
func orDash(known float64, format string, value float64) string {
	if known == 0 {
		return "-"
	}
	return fmt.Sprintf(format, value)
}
