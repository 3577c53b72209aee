package scrape

import (
	"math"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseMetrics(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       map[string]float64
	}{
		{"empty", "", map[string]float64{}},
		{"plain", "a 1\nb 2.5\n", map[string]float64{"a": 1, "b": 2.5}},
		{"sum over labels", "a{engine=\"0\"} 1\na{engine=\"1\"} 2\n", map[string]float64{"a": 3}},
		{"braces and quotes in a label", `a{b="}\"} 7"} 4`, map[string]float64{"a": 4}},
		{"timestamp, tabs, CRLF", "a\t3 1700000000\r\n", map[string]float64{"a": 3}},
		{"exponent", "a 1.5e+06", map[string]float64{"a": 1.5e6}},
		{"help twice", "# HELP a x\n# HELP a y\n# TYPE a counter\na 1\n", map[string]float64{"a": 1}},
		{"bad lines cost only themselves", "a\nb x\nc{ 1\n{x=\"y\"} 2\nd 1\n", map[string]float64{"d": 1}},
		{"not numbers", "a NaN\nb +Inf\nc 1\n", map[string]float64{"c": 1}},
		{"zero is a value", "a 0\n", map[string]float64{"a": 0}},
		{"not metrics", "<html>404 not found</html>", map[string]float64{}},
	} {
		if diff := cmp.Diff(c.want, parseMetrics(c.text)); diff != "" {
			t.Errorf("%s: parseMetrics(%q): (-want +got)\n%s", c.name, c.text, diff)
		}
	}
}

func TestPickCounters(t *testing.T) {
	t.Parallel()
	names := map[string][]string{"ours": {"new", "old"}, "none": {"missing"}}
	for _, c := range []struct {
		name    string
		metrics map[string]float64
		want    map[string]float64
	}{
		{"newest name wins", map[string]float64{"new": 1, "old": 2}, map[string]float64{"ours": 1}},
		{"older name", map[string]float64{"old": 2}, map[string]float64{"ours": 2}},
		{"absent is not zero", map[string]float64{}, map[string]float64{}},
	} {
		if diff := cmp.Diff(c.want, pickCounters(c.metrics, names)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, diff)
		}
	}
}

func FuzzParseMetrics(f *testing.F) {
	text, err := os.ReadFile("../engines/testdata/metrics/llama-server-0.7.0.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add("a{b=\"\\\"} 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		for name, value := range parseMetrics(text) {
			if name == "" || math.IsNaN(value) {
				t.Errorf("parseMetrics(%q) has %q = %v", text, name, value)
			}
		}
		// A sample that is alone on a further line is always found.
		const probe = "bench_probe_metric"
		if got := parseMetrics(text + "\n" + probe + " 1\n")[probe]; got < 1 && parseMetrics(text)[probe] == 0 {
			t.Errorf("parseMetrics(%q + probe) misses the probe: %v", text, got)
		}
	})
}

// parseMetrics reads Prometheus text and sums each metric over its label sets,
// so that a server with several engines counts as one.
func parseMetrics(text string) map[string]float64 {
	sums := make(map[string]float64)
	for name, s := range parseSeries(text) {
		sums[name] = s.sum
	}
	return sums
}

func TestCountersWentBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, after map[string]float64
		want          []string
	}{
		{map[string]float64{"a": 1, "b": 2}, map[string]float64{"a": 1, "b": 3}, nil},
		{map[string]float64{"b": 2, "a": 2}, map[string]float64{"a": 1, "b": 0}, []string{"a", "b"}},
		{map[string]float64{"a": 2}, map[string]float64{"b": 1}, nil},
		{map[string]float64{Running: 2, KVUse: 1}, map[string]float64{Running: 0, KVUse: 0}, nil},
		{nil, map[string]float64{"a": 1}, nil},
	} {
		if got := CountersWentBack(c.before, c.after); !slices.Equal(got, c.want) {
			t.Errorf("CountersWentBack(%v, %v) = %v, want %v", c.before, c.after, got, c.want)
		}
	}
}
