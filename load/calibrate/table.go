package calibrate

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/benchrig/bench/results"
)

// WriteTable prints a calibration for people: each reader beside the raw one.
func WriteTable(out io.Writer, cal results.Calibration) error {
	fmt.Fprintf(out, "%s, %d cores; feeder and reader share them\n", cal.CPU, cal.Cores)
	fmt.Fprintf(out, "answers of one token, %d in flight: %.0f requests/s\n\n", requestsWidth, cal.RequestsPerS)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(
		w,
		"streams\treader\tevents/s\tCPU us/event\tx raw\tTTFT ms\tx raw\ttrue\tITL p50 ms\ttrue\tITL p99 ms\t"+
			"true\tat most\tstamp p50 ms\tp99 ms\tmax ms\tlag p99 ms\tunpaced/s\tx raw\tMB\t",
	)
	for _, d := range cal.Drives {
		raw, _ := Find(&cal, ReaderRaw, d.Streams)
		lag, atMost := "-", "-"
		if d.ITLP99AtMostS != nil {
			atMost = "±" + ms(*d.ITLP99AtMostS)
		}
		if d.LagP99S != nil {
			lag = ms(*d.LagP99S)
		}
		fmt.Fprintf(
			w,
			"%d\t%s\t%.0f\t%.2f\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.0f\t%s\t%d\t\n",
			d.Streams,
			d.Reader,
			d.EventsPerS,
			d.CPUPerEventS*1e6,
			ratio(d.CPUPerEventS, raw.CPUPerEventS),
			ms(
				d.TTFTS,
			),
			ratio(d.TTFTS, raw.TTFTS),
			ms(d.TrueTTFTS),
			ms(d.ITLP50S),
			ms(d.TrueITLP50S),
			ms(d.ITLP99S),
			ms(d.TrueITLP99S),
			atMost,
			ms(d.StampP50S),
			ms(d.StampP99S),
			ms(d.StampMaxS),
			lag,
			d.UnpacedPerS,
			ratio(d.UnpacedPerS, raw.UnpacedPerS),
			d.MemoryBytes>>20,
		)
	}

	return w.Flush()
}

func ms(seconds float64) string { return fmt.Sprintf("%.3f", seconds*1e3) }

func ratio(value, raw float64) string {
	if raw == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", value/raw)
}
