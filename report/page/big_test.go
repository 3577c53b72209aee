package page

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/results/store"
)

var keepNight = flag.String("night", "",
	"make the folder of the long night here, or use the one that is there, instead of a temporary one")

// longNight is 500 steps of 4000 requests.
func longNight() bigFolder {
	return bigFolder{variants: 10, points: 10, repeats: 5, requests: 4000, tokens: 32}
}

// BenchmarkNight reads the folder of a long night and makes its page: 2 million
// records. Peak memory is that of the process meanwhile, where /proc shows it.
func BenchmarkNight(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "night", "20260102-030405")
	if *keepNight != "" {
		dir = filepath.Join(*keepNight, "night", "20260102-030405")
	}
	if _, err := os.Stat(dir); err != nil {
		longNight().write(b, dir)
	}
	debug.FreeOSMemory()
	// forgets the peak; where it cannot, the figure is too large
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	for b.Loop() {
		began := time.Now()
		run, err := store.Read(dir)
		if err != nil {
			b.Fatal(err)
		}
		var out bytes.Buffer
		if err := Write(&out, run); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(began).Seconds(), "s/page")
		b.ReportMetric(float64(out.Len())/1e6, "MB/page")
		b.ReportMetric(peakMemory(b)/1e6, "peak-MB")
		if *keepNight != "" {
			if err := os.WriteFile(filepath.Join(*keepNight, "night.html"), out.Bytes(), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// peakMemory is the largest resident set of this process, in bytes.
func peakMemory(b *testing.B) float64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		var kib float64
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kib); n == 1 {
			return kib * 1024
		}
	}
	return 0
}
