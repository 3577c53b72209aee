package calibrate

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// writeRivals prints what a client said beside the truth.
func writeRivals(out io.Writer, rows []rivalRow) error {
	fmt.Fprintln(out, "truth: the feeder's own times, from the kernel's stamp of a request to the write of each token")
	fmt.Fprintln(out, "off: what the client says less the truth; ? what it does not say")
	fmt.Fprintln(out)

	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(
		w,
		"streams\tanswered\tTTFT p50 ms\toff\tTTFT p99 ms\toff\tITL p50 ms\toff\tITL p99 ms\toff\tE2EL p50 ms\toff\t"+
			"tok/s\toff %\t",
	)

	for _, r := range rows {
		t, s := r.Truth, r.Said
		rate := 0.0
		if t.DurationS > 0 {
			rate = float64(t.Tokens) / t.DurationS
		}
		off := "?"
		if s.TokensPerS != nil && rate > 0 {
			off = fmt.Sprintf("%+.1f", 100*(*s.TokensPerS/rate-1))
		}
		fmt.Fprintf(w, "%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.0f\t%s\t\n", r.Streams, t.Requests,
			ms(t.TTFT.P50), offBy(s.TTFTP50, t.TTFT.P50), ms(t.TTFT.P99), offBy(s.TTFTP99, t.TTFT.P99),
			ms(t.ITL.P50), offBy(s.ITLP50, t.ITL.P50), ms(t.ITL.P99), offBy(s.ITLP99, t.ITL.P99),
			ms(t.E2EL.P50), offBy(s.E2ELP50, t.E2EL.P50), rate, off)
	}

	if err := w.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Failed != "" {
			fmt.Fprintf(out, "%d streams: %s\n", r.Streams, r.Failed)
		}
	}
	return nil
}

func offBy(said *float64, truth float64) string {
	if said == nil {
		return "?"
	}
	return fmt.Sprintf("%+.3f", 1e3*(*said-truth))
}
